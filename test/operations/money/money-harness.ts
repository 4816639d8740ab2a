import type { EventOf } from '../../../ledger/event.ts'
import type { EventType } from '../../../ledger/events/catalogue.ts'
import type { AnyEvent } from '../../../ledger/reader.ts'
import { buildMoney } from '../../../src/operations/money/index.ts'
import { parseSetting, type SettingKey, settingRegistry } from '../../../src/settings/registry.ts'
import type { Settings } from '../../../src/settings/settings.ts'
import type { Storage } from '../../../src/storage/storage.ts'
import { newId } from '../../support/writer.ts'

/** Settings that a test changes as the owner would. */
export function testSettings(values: Partial<Record<SettingKey, string>> = {}) {
  const set = { ...values }
  const get = (key: SettingKey) => {
    const text = set[key]
    if (text === undefined) return settingRegistry[key].default
    const parsed = parseSetting(key, text)
    if (!parsed.ok) throw new Error(`${key} ${parsed.message}`)
    return parsed.value
  }
  return { set, settings: { get: get as Settings['get'], entries: () => [] } }
}

/** Money on real storage, with the settings and the clock of the test. */
export function moneyOn(
  storage: Storage,
  {
    settings,
    nowMs = Date.now,
  }: { readonly settings: Pick<Settings, 'get' | 'entries'>; readonly nowMs?: () => number },
) {
  const warnings: object[] = []
  const money = buildMoney({
    storage,
    settings,
    newId,
    nowMs,
    log: { warn: (fields: object) => void warnings.push(fields) } as never,
    onFault(error) {
      throw error
    },
  })
  return { ...money, warnings }
}

export const MODEL = { provider: 'openai', model: 'gpt-5.5' }

/** Every fact of a type, in order. */
export function factsOf<T extends EventType>(storage: Pick<Storage, 'ledger'>, type: T): EventOf<T>[] {
  return storage.ledger
    .readAfter(0, 10_000)
    .filter((event): event is EventOf<T> & AnyEvent => event.type === type)
}
