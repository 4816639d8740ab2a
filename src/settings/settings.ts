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
import { destinationOf, packSecret, unpackSecret } from './secret-addresses.ts'
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
  /** The origin that a secret was entered for; null for what is sent nowhere, and where there is no secret. */
  readonly enteredFor: string | null
  /** The origin that a secret would be sent to by the settings in force; null for what is sent nowhere. */
  readonly sentTo: string | null
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
export type SettingsChange =
  | SettingsCheck
  | {
      readonly status: 'password_required'
      readonly key: SettingKey
      readonly enteredFor: string
      readonly destination: string
    }

/** A value and where it comes from; of a secret also the origin that it was entered for. */
type Held = {
  readonly value: AnySettingValue | null
  readonly source: SettingSource
  readonly enteredFor: string | null
}

/** The settings in force: a stored value wins over the environment's, that over the default. */
export type Settings = {
  /**
   * The value in force at this moment; ask again rather than keep it. Null for a secret that was entered for another
   * origin than the one in force: it must not be sent there.
   */
  get<K extends SettingKey>(key: K): SettingValue<K>
  /** The token that the provider signs its webhooks with, whatever its API's address: for checking, never to be sent. */
  webhookToken(): string | null
  entries(): readonly SettingEntry[]
  /** Every secret there is, in force or not, for the log's redaction. */
  secretValues(): readonly string[]
  /** Checks values without changing anything; all problems at once. */
  check(entries: Readonly<Record<string, unknown>>): SettingsCheck
  /**
   * Changes all of them or none. Resolves once the change is a fact in the ledger, on disk, and in force. A secret
   * that replaces one of another origin needs the owner's password: `isConfirmed` says that it was right.
   */
  change(entries: Readonly<Record<string, unknown>>, isConfirmed?: boolean): Promise<SettingsChange>
  /** Takes the stored value away; the environment's or the default holds again. */
  reset(key: SettingKey): Promise<void>
  /** Lays checked values out for the store, secrets sealed. */
  lay(values: CheckedSettings): readonly StoredSetting[]
  /** Binds secrets that an earlier version stored to the address in force, for good. */
  bindStoredSecrets(): void
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
  /** Refuses a valid value for a reason that no schema knows; completes a sentence. */
  readonly refuse?: (key: SettingKey, value: AnySettingValue) => string | null
  readonly onWarning: (message: string, fields: Record<string, unknown>) => void
}): Settings {
  const { store, secrets, environment, append, onWarning } = options
  const serially = createSerializer()
  const subscribers = new Set<(keys: ReadonlySet<SettingKey>) => void>()
  let stored = readStored()

  function readStored() {
    const values = new Map<SettingKey, { value: AnySettingValue; enteredFor: string | null }>()
    const locked: string[] = []
    for (const { key, value, sealed } of store.settings()) {
      if (!isSettingKey(key)) continue
      if (sealed && !secrets.hasKey()) {
        locked.push(key)
        continue
      }
      const { secret, enteredFor } = unpackSecret(sealed ? secrets.open(key, value) : value)
      const parsed = parseSetting(key, secret)
      if (parsed.ok) values.set(key, { value: parsed.value, enteredFor })
      else onWarning('A stored setting is not valid any more and counts as unset.', { setting: key })
    }
    if (locked.length > 0) {
      onWarning('secret.key is missing, so these settings are unset. Put it back, or enter them again.', {
        settings: locked,
      })
    }
    return values
  }

  function held(key: SettingKey): Held {
    const fromStore = stored.get(key)
    if (fromStore !== undefined) {
      return { ...fromStore, source: 'stored', enteredFor: fromStore.enteredFor ?? destination(key) }
    }
    const fromEnvironment = environment.get(key)
    if (fromEnvironment !== undefined) {
      const enteredFor = destinationOf(key, (each) => environment.get(each))
      return { value: fromEnvironment, source: 'environment', enteredFor }
    }
    const value = settingRegistry[key].default
    return { value, source: value === null ? 'unset' : 'default', enteredFor: null }
  }

  /** Where a secret would be sent to now, or once `changes` are in force. */
  function destination(key: SettingKey, changes: CheckedSettings = new Map()): string | null {
    return destinationOf(key, (each) => changes.get(each) ?? held(each).value)
  }

  function inForce(key: SettingKey): Held {
    const found = held(key)
    return found.enteredFor === null || found.enteredFor === destination(key)
      ? found
      : { ...found, value: null }
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
      const refusal = parsed.ok ? (options.refuse?.(key, parsed.value) ?? null) : parsed.message
      if (parsed.ok && refusal === null) values.set(key, parsed.value)
      else if (refusal !== null) problems.push({ key, message: refusal })
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
      if (!settingRegistry[key].secret) return { key, value: JSON.stringify(value), sealed: false }
      makeKey()
      const text = packSecret(value, destination(key, values))
      return { key, value: secrets.seal(key, text), sealed: true }
    })
  }

  /** The first secret among `values` that takes the place of one for another origin. */
  function movedSecret(values: CheckedSettings): SettingsChange | null {
    for (const key of values.keys()) {
      const { enteredFor } = held(key)
      const next = destination(key, values)
      if (enteredFor !== null && next !== null && next !== enteredFor)
        return { status: 'password_required', key, enteredFor, destination: next }
    }
    return null
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
    webhookToken() {
      const { value } = held('TELEPHONY_AUTH_TOKEN')
      return value === null ? null : String(value)
    },
    // `inForce` reads the table by the same key whose schema made the value.
    get: <K extends SettingKey>(key: K) => inForce(key).value as SettingValue<K>,
    entries: () =>
      settingKeys.map((key) => {
        const { value, source, enteredFor } = inForce(key)
        const { secret, description, restart, group, title, unit, choices } = settingRegistry[key]
        return {
          key,
          value: secret ? null : value,
          secret,
          set: value !== null,
          source,
          enteredFor,
          sentTo: destination(key),
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
        if (!settingRegistry[key].secret) return []
        const values = [stored.get(key)?.value, environment.get(key)]
        return values.flatMap((value) => (value === undefined ? [] : [String(value)]))
      }),
    check,
    change(entries, isConfirmed = false) {
      return serially(async () => {
        const checked = check(entries)
        if (checked.status === 'invalid' || checked.values.size === 0) return checked
        const moved = isConfirmed ? null : movedSecret(checked.values)
        if (moved) return moved
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
    bindStoredSecrets() {
      const unbound = [...stored].flatMap(([key, { value, enteredFor }]) =>
        enteredFor === null && destination(key) !== null ? [[key, value] as const] : [],
      )
      if (unbound.length === 0) return
      store.writeSettings(lay(new Map(unbound)))
      stored = readStored()
    },
    reload,
    subscribe(onChanged) {
      subscribers.add(onChanged)
      return () => subscribers.delete(onChanged)
    },
  }
}
