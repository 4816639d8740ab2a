import pLimit from 'p-limit'
import { kindsOfService } from '../model/kinds.ts'
import type { ModelPlan, PlannedService } from '../model/plan.ts'
import { MAIN, type ModelUse, modelUses, type ServiceEntry } from '../model/words.ts'
import { MAX_SERVICES } from './service-settings.ts'
import type { Settings } from './settings.ts'

/** A service as the owner enters it. Without a key, the old one stays; an empty key removes it. */
export type WantedService = Pick<ServiceEntry, 'kind' | 'title' | 'baseUrl'> & {
  readonly api?: ServiceEntry['api'] | undefined
  readonly apiKey?: string | undefined
}

export type ServiceSaved = 'saved' | 'key_required' | 'key_required_again' | 'too_many'
export type ServiceRemoved =
  | { readonly status: 'removed' | 'unknown' | 'main' }
  | { readonly status: 'in_use'; readonly by: ModelUse | 'fallback' }

/**
 * Changes one model service at a time in the settings that hold them: OPENAI_* for `main`, SERVICES and SERVICE_KEYS
 * for the others. `plan` reads the settings in force.
 */
export function createServiceList(settings: Pick<Settings, 'change'>, plan: () => ModelPlan) {
  const serially = pLimit(1)
  const named = (id: string) => plan().services.find((service) => service.id === id)

  /** The key that the service has from now on, or why there must be one. */
  function keyOf(wanted: WantedService, current: PlannedService | undefined) {
    const { apiKey, baseUrl, kind } = wanted
    const old = current?.apiKey ?? null
    if (apiKey === undefined && current && old !== null) {
      // A key never follows to a new address.
      const isSameOrigin = new URL(current.baseUrl).origin === new URL(baseUrl).origin
      return isSameOrigin ? { key: old } : ('key_required_again' as const)
    }
    const key = apiKey || null
    return key === null && kindsOfService[kind].needsKey ? ('key_required' as const) : { key }
  }

  async function write(services: readonly PlannedService[]): Promise<void> {
    const further = services.filter(({ id }) => id !== MAIN)
    const entries = further.map(({ id, kind, title, baseUrl, api }) => ({ id, kind, title, baseUrl, api }))
    const keys = further.flatMap(({ id, apiKey }) => (apiKey === null ? [] : [[id, apiKey] as const]))
    const hasKeys = [...keys, ...plan().services.filter(({ id, apiKey }) => id !== MAIN && apiKey)].length > 0
    await change({
      SERVICES: JSON.stringify(entries),
      // Together with the addresses that they are entered for.
      ...(hasKeys && { SERVICE_KEYS: JSON.stringify(Object.fromEntries(keys)) }),
    })
  }

  async function writeMain(baseUrl: string, api: string, apiKey: string | undefined): Promise<void> {
    const key = apiKey === undefined ? {} : { OPENAI_API_KEY: apiKey || null }
    await change({ OPENAI_BASE_URL: baseUrl, MODEL_API: api, ...key })
  }

  /** The route has asked for a proof of the owner, which confirms the keys for their new addresses. */
  async function change(entries: Readonly<Record<string, string | null>>): Promise<void> {
    const { status } = await settings.change(entries, true)
    if (status !== 'valid') throw new TypeError('a service does not fit into its settings')
  }

  return {
    save(id: string, wanted: WantedService): Promise<ServiceSaved> {
      return serially(async () => {
        const { services } = plan()
        const current = named(id)
        const found = keyOf(wanted, current)
        if (typeof found === 'string') return found
        if (current === undefined && services.length > MAX_SERVICES) return 'too_many'
        const { kind, title, baseUrl, api = current?.api ?? 'auto' } = wanted
        const saved = { id, kind, title, baseUrl, api, apiKey: found.key, isSet: true }
        if (id === MAIN) await writeMain(baseUrl, api, wanted.apiKey)
        else
          await write(
            current ? services.map((each) => (each === current ? saved : each)) : [...services, saved],
          )
        return 'saved'
      })
    },
    remove(id: string): Promise<ServiceRemoved> {
      return serially(async () => {
        const { services, uses, fallback } = plan()
        if (id === MAIN) return { status: 'main' }
        if (named(id) === undefined) return { status: 'unknown' }
        const use = modelUses.find((each) => uses[each].service === id)
        const isFallback = fallback.some(({ service }) => service === id)
        const by = use ?? (isFallback ? 'fallback' : null)
        if (by !== null) return { status: 'in_use', by }
        await write(services.filter((service) => service.id !== id))
        return { status: 'removed' }
      })
    },
  }
}
