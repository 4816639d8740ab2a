import type { Append } from '../../ledger/event.ts'
import {
  type AnySettingValue,
  isSettingKey,
  parseSetting,
  type SettingDefinition,
  type SettingKey,
  type SettingValue,
  settingKeys,
  settingRegistry,
} from './registry.ts'
import type { SecretBox } from './secrets.ts'
import { createSerializer } from './serializer.ts'
import type { SettingsStore, StoredSetting } from './store.ts'

export type SettingSource = 'stored' | 'environment' | 'default' | 'unset'

/** A setting as the API shows it; a secret's value is always null. */
export type SettingEntry = {
  readonly key: SettingKey
  readonly value: AnySettingValue | null
  readonly secret: boolean
  readonly set: boolean
  readonly source: SettingSource
  readonly description: string
  readonly restart: boolean
  readonly group: SettingDefinition['group']
  readonly title: string
  readonly unit: string | null
  readonly choices: readonly string[] | null
}

export type SettingProblem = { readonly key: string; readonly message: string }
export type CheckedSettings = ReadonlyMap<SettingKey, AnySettingValue>
export type SettingsCheck =
  | { readonly status: 'valid'; readonly values: CheckedSettings }
  | { readonly status: 'invalid'; readonly problems: readonly SettingProblem[] }

/** The settings in force: a stored value wins over the environment's, that over the default. */
export type Settings = {
  /** The value in force at this moment; ask again rather than keep it. */
  get<K extends SettingKey>(key: K): SettingValue<K>
  entries(): readonly SettingEntry[]
  /** Every secret in force, for the log's redaction. */
  secretValues(): readonly string[]
  /** Checks values without changing anything; all problems at once. */
  check(entries: Readonly<Record<string, unknown>>): SettingsCheck
  /** Changes all of them or none. Resolves once the change is a fact in the ledger, on disk, and in force. */
  change(entries: Readonly<Record<string, unknown>>): Promise<SettingsCheck>
  /** Takes the stored value away; the environment's or the default holds again. */
  reset(key: SettingKey): Promise<void>
  /** Lays checked values out for the store, secrets sealed. */
  lay(values: CheckedSettings): readonly StoredSetting[]
  /** Reads the store again after somebody else wrote `keys` to it, and tells the subscribers. */
  reload(keys: Iterable<SettingKey>): void
  /** Calls `onChanged` after each change, with the settings already in force. Returns what ends it. */
  subscribe(onChanged: (keys: ReadonlySet<SettingKey>) => void): () => void
}

/**
 * Reads the stored settings. A secret whose key file is missing counts as unset, and a stored value that this
 * build no longer allows too; both are said by `onWarning`. Throws SettingsUnusable where the key is a wrong one.
 */
export function createSettings(options: {
  readonly store: SettingsStore
  readonly secrets: SecretBox
  readonly environment: CheckedSettings
  readonly append: Append
  readonly onWarning: (message: string, fields: Record<string, unknown>) => void
}): Settings {
  const { store, secrets, environment, append, onWarning } = options
  const serially = createSerializer()
  const subscribers = new Set<(keys: ReadonlySet<SettingKey>) => void>()
  let stored = readStored()

  function readStored(): Map<SettingKey, AnySettingValue> {
    const values = new Map<SettingKey, AnySettingValue>()
    const locked: string[] = []
    for (const { key, value, sealed } of store.settings()) {
      if (!isSettingKey(key)) continue
      if (sealed && !secrets.hasKey()) {
        locked.push(key)
        continue
      }
      const parsed = parseSetting(key, JSON.parse(sealed ? secrets.open(key, value) : value))
      if (parsed.ok) values.set(key, parsed.value)
      else onWarning('A stored setting is not valid any more and counts as unset.', { setting: key })
    }
    if (locked.length > 0) {
      onWarning('secret.key is missing, so these settings are unset. Put it back, or enter them again.', {
        settings: locked,
      })
    }
    return values
  }

  function inForce(key: SettingKey): { value: AnySettingValue | null; source: SettingSource } {
    const fromStore = stored.get(key)
    if (fromStore !== undefined) return { value: fromStore, source: 'stored' }
    const fromEnvironment = environment.get(key)
    if (fromEnvironment !== undefined) return { value: fromEnvironment, source: 'environment' }
    const value = settingRegistry[key].default
    return { value, source: value === null ? 'unset' : 'default' }
  }

  function check(entries: Readonly<Record<string, unknown>>): SettingsCheck {
    const values = new Map<SettingKey, AnySettingValue>()
    const problems: SettingProblem[] = []
    for (const [key, input] of Object.entries(entries)) {
      if (!isSettingKey(key)) {
        problems.push({ key, message: 'is not a setting' })
        continue
      }
      const parsed = parseSetting(key, input)
      if (parsed.ok) values.set(key, parsed.value)
      else problems.push({ key, message: parsed.message })
    }
    return problems.length > 0 ? { status: 'invalid', problems } : { status: 'valid', values }
  }

  function makeKey(): void {
    if (secrets.hasKey()) return
    // First, or a crash in between would leave values that the new key refuses to open.
    store.dropSealedSettings()
    secrets.makeKey()
  }

  function lay(values: CheckedSettings): StoredSetting[] {
    return [...values].map(([key, value]) => {
      const text = JSON.stringify(value)
      if (!settingRegistry[key].secret) return { key, value: text, sealed: false }
      makeKey()
      return { key, value: secrets.seal(key, text), sealed: true }
    })
  }

  async function record(keys: readonly SettingKey[]): Promise<void> {
    await append([
      { type: 'settings.changed', actor: 'owner', channel: 'system', facts: { keys: [...keys].sort() } },
    ])
  }

  function reload(keys: Iterable<SettingKey>): void {
    stored = readStored()
    const changed = new Set(keys)
    for (const subscriber of [...subscribers]) {
      try {
        subscriber(changed)
      } catch (error) {
        onWarning('A subscriber failed on changed settings.', { err: error })
      }
    }
  }

  return {
    // `inForce` reads the table by the same key whose schema made the value.
    get: <K extends SettingKey>(key: K) => inForce(key).value as SettingValue<K>,
    entries: () =>
      settingKeys.map((key) => {
        const { value, source } = inForce(key)
        const { secret, description, restart, group, title, unit, choices } = settingRegistry[key]
        return {
          key,
          value: secret ? null : value,
          secret,
          set: value !== null,
          source,
          description,
          restart,
          group,
          title,
          unit,
          choices,
        }
      }),
    secretValues: () =>
      settingKeys.flatMap((key) => {
        const { value } = inForce(key)
        return settingRegistry[key].secret && value !== null ? [String(value)] : []
      }),
    check,
    change(entries) {
      return serially(async () => {
        const checked = check(entries)
        if (checked.status === 'invalid' || checked.values.size === 0) return checked
        const laid = lay(checked.values)
        await record([...checked.values.keys()])
        store.writeSettings(laid)
        reload(checked.values.keys())
        return checked
      })
    },
    reset(key) {
      return serially(async () => {
        if (!store.settings().some((setting) => setting.key === key)) return
        await record([key])
        store.deleteSetting(key)
        reload([key])
      })
    },
    lay,
    reload,
    subscribe(onChanged) {
      subscribers.add(onChanged)
      return () => subscribers.delete(onChanged)
    },
  }
}
