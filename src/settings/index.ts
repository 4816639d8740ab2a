import { randomBytes } from 'node:crypto'
import type { Append } from '../../ledger/event.ts'
import { createDevices } from './devices.ts'
import { createFactorStore } from './factor-store.ts'
import { createFactors } from './factors.ts'
import { createOfflineCopies } from './offline-copies.ts'
import { isOutsideService, liesOutside, WITHIN_REACH, WITHIN_SERVICE } from './outside-data.ts'
import { createOwnerAccount } from './owner-account.ts'
import { createOwnerLanguage } from './owner-language.ts'
import { createPasskeys } from './passkeys.ts'
import { createPasswords } from './passwords.ts'
import { createPushSubscriptions } from './push-subscriptions.ts'
import { openSecretBox } from './secrets.ts'
import { createSessions } from './sessions.ts'
import { type CheckedSettings, createSettings, type Settings } from './settings.ts'
import { openSettingsStore } from './store.ts'
import { createTypedCode } from './typed-code.ts'

export type OwnerState = ReturnType<typeof openOwnerState>

/** Opens everything in settings.sqlite. Throws SettingsUnusable, and then leaves nothing open. */
export function openOwnerState(options: {
  readonly directory: string
  /** Settings from the environment (Config.settings). */
  readonly environment: CheckedSettings
  readonly append: Append
  /** Whether the ledger holds a fact with that key. */
  readonly hasFact: (key: string) => boolean
  readonly nowMs: () => number
  readonly newId: () => string
  readonly onWarning: (message: string, fields: Record<string, unknown>) => void
}) {
  const { directory, environment, append, hasFact, nowMs, newId, onWarning } = options
  const store = openSettingsStore(directory)
  try {
    const secrets = openSecretBox(directory)
    const settings = createSettings({
      store,
      secrets,
      environment,
      append,
      refuse(key, value) {
        if (key === 'COPILOT_WORKDIR' && !liesOutside(String(value), directory)) return WITHIN_REACH
        return key === 'BACKUP_DIRECTORY' && !isOutsideService(String(value), directory)
          ? WITHIN_SERVICE
          : null
      },
      onWarning,
    })
    const newToken = () => randomBytes(32).toString('base64url')
    const sessions = createSessions({ store, nowMs, newId, newToken, onWarning })
    const setupCode = createTypedCode(randomBytes)
    const passwords = createPasswords()
    const documents = { document: store.document, writeDocument: store.writeDocument }
    const { makeKey } = settings
    const factorStore = createFactorStore(documents)
    const passkeys = createPasskeys({ store: factorStore, append, nowMs, randomBytes })
    const factors = createFactors({
      store: factorStore,
      secrets,
      makeKey,
      append,
      nowMs,
      randomBytes,
      onWarning,
    })
    const account = createOwnerAccount({
      store,
      settings,
      sessions,
      passwords,
      factors,
      passkeys,
      devices: createDevices(documents),
      append,
      hasFact,
      setupCode,
      newId,
      onWarning,
    })
    return {
      settings,
      sessions,
      account,
      factors,
      passkeys,
      language: createOwnerLanguage({ documents, settings }),
      offlineCopies: createOfflineCopies({ documents, nowMs }),
      pushSubscriptions: createPushSubscriptions({ documents, secrets, makeKey, sessions, newId, nowMs }),
      /** Settings that parts of the service keep for themselves, one document each. */
      documents,
      /** Printed until the service is installed; new at each start. */
      setupCode,
      close: store.close,
    }
  } catch (error) {
    store.close()
    throw error
  }
}

/** Only values that were set: defaults do not count. */
export function chosenSettings(settings: Pick<Settings, 'get' | 'entries'>): Partial<Record<string, string>> {
  const chosen = settings
    .entries()
    .filter((entry) => entry.source === 'stored' || entry.source === 'environment')
  return Object.fromEntries(
    chosen.flatMap(({ key }) => {
      const value = settings.get(key)
      return value === null ? [] : [[key, String(value)]]
    }),
  )
}
