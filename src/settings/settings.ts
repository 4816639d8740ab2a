import pLimit from 'p-limit'
import type { Append } from '../../ledger/event.ts'
import { msg } from '../language/msg.ts'
import { SecretKeyMissing } from './errors.ts'
import {
  type AnySettingValue,
  isSettingKey,
  parseSetting,
  type SettingKey,
  type SettingValue,
  settingKeys,
  settingRegistry,
} from './registry.ts'
import { destinationOf, packSecret, unpackSecret } from './secret-addresses.ts'
import type { SecretBox } from './secrets.ts'
import { keysIn } from './service-settings.ts'
import type { SettingDefinition } from './setting.ts'
import type { SettingsStore, StoredSetting } from './store.ts'

export type SettingSource = 'stored' | 'environment' | 'default' | 'unset'

/** A setting as the API shows it; a secret's value is always null. */
export type SettingEntry = Omit<SettingDefinition, 'schema' | 'default' | 'sensitive' | 'variable'> &
  ResolvedSetting & {
    readonly key: SettingKey
    readonly set: boolean
    /** The origin that the current settings would send a secret to; null if it is never sent. */
    readonly sentTo: string | null
    /** Every setting takes effect at once. */
    readonly restart: false
  }

export type SettingProblem = { readonly key: string; readonly message: string }
export type CheckedSettings = ReadonlyMap<SettingKey, AnySettingValue>
/** The same with what a change removes, by the values that then apply. */
type NextSettings = ReadonlyMap<SettingKey, AnySettingValue | null>
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

/** A value and its source; for a secret, also the origin that it was entered for. */
type ResolvedSetting = {
  readonly value: AnySettingValue | null
  readonly source: SettingSource
  readonly enteredFor: string | null
}

export type Settings = ReturnType<typeof createSettings>

/**
 * The current settings: a stored value takes precedence over the environment, and both over the default. Secrets
 * without their key file and values that this build no longer allows count as unset; `onWarning` reports them.
 * Throws SettingsUnusable if the key is wrong.
 */
export function createSettings(options: {
  readonly store: SettingsStore
  readonly secrets: SecretBox
  readonly environment: CheckedSettings
  readonly append: Append
  /** Refuses a value that its schema accepts; the reason completes a sentence. */
  readonly refuse?: (key: SettingKey, value: AnySettingValue) => string | null
  readonly onWarning: (message: string, fields: Record<string, unknown>) => void
}) {
  const { store, secrets, environment, append, onWarning } = options
  const serially = pLimit(1)
  const subscribers = new Set<(keys: ReadonlySet<SettingKey>) => void>()
  /** Stored secrets that cannot be read, because secret.key is missing. */
  let locked: readonly SettingKey[] = []
  let stored = readStored()

  function readStored() {
    const values = new Map<SettingKey, { value: AnySettingValue; enteredFor: string | null }>()
    const unread: SettingKey[] = []
    for (const { key, value, sealed } of store.settings()) {
      if (!isSettingKey(key)) continue
      if (sealed && !secrets.hasKey()) {
        unread.push(key)
        continue
      }
      const { secret, enteredFor } = unpackSecret(sealed ? secrets.open(key, value) : value)
      const parsed = parseSetting(key, secret)
      if (parsed.ok) values.set(key, { value: parsed.value, enteredFor })
      else onWarning('A stored setting is no longer valid and counts as unset.', { setting: key })
    }
    locked = unread.sort()
    if (locked.length > 0) {
      onWarning(
        'secret.key is missing, so these settings are unset. Put it back and restart Delegate, or remove them and enter them again.',
        { settings: locked },
      )
    }
    return values
  }

  function resolve(key: SettingKey): ResolvedSetting {
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

  /** The value of a setting that is not stored. */
  const unstored = (key: SettingKey) => environment.get(key) ?? settingRegistry[key].default

  /** Where a secret is sent now, or after `changes` take effect. */
  function destination(key: SettingKey, changes: NextSettings = new Map()): string | null {
    return destinationOf(key, (each) =>
      changes.has(each) ? (changes.get(each) ?? null) : resolve(each).value,
    )
  }

  function resolveUsable(key: SettingKey): ResolvedSetting {
    const found = resolve(key)
    return found.enteredFor === null || found.enteredFor === destination(key)
      ? found
      : { ...found, value: null }
  }

  /** Checks values without changing anything, and reports all problems. Null removes the stored value. */
  function check(entries: Readonly<Record<string, unknown>>): SettingsCheck {
    const values = new Map<SettingKey, AnySettingValue>()
    const problems: SettingProblem[] = []
    for (const [key, input] of Object.entries(entries)) {
      if (!isSettingKey(key)) {
        problems.push({ key, message: msg`is not a setting` })
        continue
      }
      if (input === null) continue
      const parsed = parseSetting(key, input)
      const refusal = parsed.ok ? (options.refuse?.(key, parsed.value) ?? null) : parsed.message
      if (parsed.ok && refusal === null) values.set(key, parsed.value)
      else if (refusal !== null) problems.push({ key, message: refusal })
    }
    return problems.length > 0 ? { status: 'invalid', problems } : { status: 'valid', values }
  }

  /**
   * Makes a key to seal secrets with, if there is none. Throws SecretKeyMissing if a lost key sealed anything but what
   * is `replaced`: with the new key in its place, it could not be put back.
   */
  function makeKey(replaced: CheckedSettings = new Map()): void {
    if (secrets.hasKey()) return
    const lost = locked.filter((key) => !replaced.has(key))
    if (lost.length > 0) throw new SecretKeyMissing(lost)
    // Before the new key exists: after a crash in between, it could not open the old values.
    store.dropSealedSettings()
    secrets.makeKey()
  }

  /** Converts checked values for the store, with secrets sealed for where `next` sends them. */
  function toStored(values: CheckedSettings, next: NextSettings = values): StoredSetting[] {
    return [...values].map(([key, value]) => {
      if (!settingRegistry[key].secret) return { key, value: JSON.stringify(value), sealed: false }
      makeKey(values)
      const text = packSecret(value, destination(key, next))
      return { key, value: secrets.seal(key, text), sealed: true }
    })
  }

  /** The first secret in `values` that replaces one for another origin than `next` sends it to. */
  function movedSecret(values: CheckedSettings, next: NextSettings): SettingsChange | null {
    for (const key of values.keys()) {
      const { enteredFor } = resolve(key)
      const to = destination(key, next)
      if (enteredFor !== null && to !== null && to !== enteredFor)
        return { status: 'password_required', key, enteredFor, destination: to }
    }
    return null
  }

  const isLocked = (key: SettingKey) => locked.includes(key)

  async function record(keys: readonly SettingKey[]): Promise<void> {
    await append([
      { type: 'settings.changed', actor: 'owner', channel: 'system', facts: { keys: [...keys].sort() } },
    ])
  }

  /** Rereads the store after another writer changed `keys`, and notifies subscribers. */
  function reload(keys: Iterable<SettingKey>): void {
    stored = readStored()
    const changed = new Set(keys)
    for (const subscriber of [...subscribers]) {
      try {
        subscriber(changed)
      } catch (error) {
        onWarning('A settings subscriber failed.', { err: error })
      }
    }
  }

  return {
    /** The token that verifies the provider's webhooks, whatever its API's address. Never send it. */
    webhookToken(): string | null {
      const { value } = resolve('TELEPHONY_AUTH_TOKEN')
      return value === null ? null : String(value)
    },
    /**
     * The current value; read it again instead of keeping it. Null for a secret that was entered for another
     * origin than the current one, because it must not be sent there.
     */
    // Safe: the schema of the same key parsed the value.
    get: <K extends SettingKey>(key: K) => resolveUsable(key).value as SettingValue<K>,
    /** Whether a stored secret cannot be read, because secret.key is missing. */
    isLocked,
    entries: () =>
      settingKeys.map((key): SettingEntry => {
        const { value, source, enteredFor } = resolveUsable(key)
        const { secret, description, group, title, unit, choices }: SettingDefinition = settingRegistry[key]
        return {
          key,
          value: secret ? null : value,
          secret,
          set: value !== null,
          source: isLocked(key) ? 'stored' : source,
          enteredFor,
          sentTo: destination(key),
          description,
          restart: false,
          group,
          title,
          unit,
          choices,
        }
      }),
    /**
     * All secrets, in use or not, for redaction in the log and in results. The PIN is not among them: a caller
     * could note every number and see which one is masked.
     */
    secretValues: () =>
      settingKeys.flatMap((key) => {
        if (!settingRegistry[key].secret || key === 'PHONE_PIN') return []
        const values = [stored.get(key)?.value, environment.get(key)]
        return values.flatMap((value) => {
          if (value === undefined) return []
          return key === 'SERVICE_KEYS' ? keysIn(value) : [String(value)]
        })
      }),
    check,
    /**
     * Changes all entries or none; null removes the stored value. Resolves once the change is in the ledger, on disk and
     * in effect. To replace a secret of another origin, the owner's password must have been checked: `isConfirmed`.
     * Rejects with SecretKeyMissing, as makeKey.
     */
    change(entries: Readonly<Record<string, unknown>>, isConfirmed = false): Promise<SettingsChange> {
      return serially(async () => {
        const checked = check(entries)
        if (checked.status === 'invalid') return checked
        const stale = store.settings().flatMap(({ key }) => (entries[key] === null ? [key] : []))
        const removed = stale.filter(isSettingKey)
        const next = new Map([...checked.values, ...removed.map((key) => [key, unstored(key)] as const)])
        const moved = isConfirmed ? null : movedSecret(checked.values, next)
        if (moved) return moved
        const keys = [...next.keys()]
        if (keys.length === 0) return checked
        const rows = toStored(checked.values, next)
        await record(keys)
        store.writeSettings(rows, stale)
        reload(keys)
        return checked
      })
    },
    toStored,
    makeKey,
    /** Permanently binds secrets that an earlier version stored to the current address. */
    bindStoredSecrets(): void {
      const unbound = [...stored].flatMap(([key, { value, enteredFor }]) =>
        enteredFor === null && destination(key) !== null ? [[key, value] as const] : [],
      )
      if (unbound.length === 0) return
      store.writeSettings(toStored(new Map(unbound)))
      stored = readStored()
    },
    reload,
    /** Calls `onChanged` after each change has taken effect. Returns a function that unsubscribes. */
    subscribe(onChanged: (keys: ReadonlySet<SettingKey>) => void): () => void {
      subscribers.add(onChanged)
      return () => void subscribers.delete(onChanged)
    },
  }
}
