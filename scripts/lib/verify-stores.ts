import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { closing } from '../../ledger/closing.ts'
import { findDamage } from '../../ledger/damage.ts'
import { isDamage, messageOf } from '../../ledger/errors.ts'
import { viewsFile } from '../../ledger/files.ts'
import { openSecretBox } from '../../src/settings/secrets.ts'
import { hasSettings, settingsFile } from '../../src/settings/store.ts'
import { Refused } from './command.ts'

export const NO_SETTINGS =
  'There is no settings.sqlite, or it is empty: settings and password are missing. Put it back from a backup, or run ' +
  'npm run owner:reset-password and enter the settings again.'

const NO_KEY =
  'secret.key is missing: the secrets in settings.sqlite cannot be read. Put it back, or enter the secrets again.'

/**
 * Checks settings and views without writing. Returns lines about each store. Throws Refused if the settings
 * are damaged, because only a backup restores them, and SettingsUnusable if `secret.key` does not fit them.
 * `directory` may be a copy of `dataDir` without `secret.key`.
 */
export function verifyStores(directory: string, dataDir = directory): string[] {
  return [...verifySettings(directory, dataDir), ...verifyViews(directory)]
}

function verifySettings(directory: string, dataDir: string): string[] {
  const file = settingsFile(directory)
  if (!hasSettings(directory)) return [NO_SETTINGS]
  const damage = damageOf(file)
  if (damage !== null)
    throw new Refused(`settings.sqlite is damaged: ${damage}. Stop Delegate and restore a backup.`)
  const secrets = secretsIn(file)
  const box = openSecretBox(dataDir)
  const sound = 'settings.sqlite is sound.'
  if (secrets.length > 0 && !box.hasKey()) return [sound, NO_KEY]
  for (const { key, value } of secrets) box.open(key, value)
  return [sound]
}

function secretsIn(file: string) {
  using db = closing(new Database(file, { readonly: true }))
  return db
    .prepare<[], { key: string; value: string }>('SELECT key, value FROM settings WHERE sealed = 1')
    .all()
}

function verifyViews(directory: string): string[] {
  if (!existsSync(viewsFile(directory))) return []
  return [damageOfViews(directory) ?? 'views.sqlite is sound.']
}

/** What is wrong with the views, and what to do; null if they are sound. */
export function damageOfViews(directory: string): string | null {
  const damage = damageOf(viewsFile(directory))
  if (damage === null) return null
  return `views.sqlite is damaged: ${damage}. Stop Delegate and delete it. It is rebuilt from the ledger.`
}

function damageOf(file: string): string | null {
  try {
    using db = closing(new Database(file, { readonly: true, timeout: 5000 }))
    return findDamage(db)
  } catch (error) {
    // A disk that refuses says nothing about the file.
    if (!isDamage(error)) throw error
    return messageOf(error)
  }
}
