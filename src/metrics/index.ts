import type { Registry } from 'prom-client'
import type { ObserveRequest, WatchedRequest } from '../model/metered.ts'
import type { EngineStatus } from '../storage/messages.ts'
import type { Storage } from '../storage/storage.ts'
import { addGauges, addPostgresGauges, type GaugeSources, type Seen } from './gauges.ts'
import { addModelMetrics } from './model-requests.ts'
import { addTallies } from './tallies.ts'

export type Metrics = ReturnType<typeof buildMetrics>

/** What a monitor reads: the text and its type. */
export type Scrape = { readonly text: string; readonly contentType: string }

/**
 * Wires the metrics, in the text format of Prometheus. Labels come from fixed sets in the code. Nothing is loaded,
 * measured or counted before the first scrape, so an instance without a monitor pays nothing.
 */
export function buildMetrics(
  options: GaugeSources & {
    readonly storage: Storage
    /** The kind of service behind the name of a provider. */
    readonly kindOf: (provider: string) => string
  },
) {
  let opened: ReturnType<typeof open> | null = null
  let count: ObserveRequest = () => undefined

  async function open() {
    const prom = await import('prom-client')
    const register = new prom.Registry()
    prom.collectDefaultMetrics({ register })
    count = addModelMetrics(prom, register, options.kindOf)
    const tally = addTallies(prom, register, options.storage)
    const show = addGauges(prom, register, options)
    const showPostgres = addPostgresGauges(prom, register)
    return { register, tally, show, showPostgres }
  }

  return {
    /** Counts a request to a model service that has ended. */
    observeRequest: (request: WatchedRequest): void => count(request),
    /** `seen` is what the HTTP layer knows. Appends nothing. */
    async scrape(seen: Seen): Promise<Scrape> {
      opened ??= open()
      const { register, tally, show, showPostgres } = await opened
      try {
        tally()
      } catch (error) {
        options.storage.reportFault(error)
      }
      show(seen)
      showPostgres(seen.status?.engine)
      return textOf(register)
    },
  }
}

/** What a standby shows: only how it follows. */
export async function scrapeStandby(engine: EngineStatus | null): Promise<Scrape> {
  const prom = await import('prom-client')
  const register = new prom.Registry()
  addPostgresGauges(prom, register)(engine ?? undefined)
  return textOf(register)
}

async function textOf(register: Registry): Promise<Scrape> {
  return { text: await register.metrics(), contentType: register.contentType }
}
