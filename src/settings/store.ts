import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as z from 'zod'
import { firstFault } from '../../ledger/damage.ts'
import { isDamage, LedgerDamaged, messageOf } from '../../ledger/errors.ts'
import { checkHeader, makeDirectory, makeFile } from '../../ledger/files.ts'
import { english } from '../language/message.ts'
import { SettingsUnusable } from './errors.ts'

export const SETTINGS_FILE = 'settings.sqlite'
export const settingsFile = (directory: string): string => join(directory, SETTINGS_FILE)

const storedSettingSchema = z.object({ key: z.string(), value: z.string(), sealed: z.boolean() }).readonly()
const storedSessionSchema = z
  .object({
    id: z.string(),
    /** SHA-256 of the token. Only the browser has the token itself. */
    tokenHash: z.string(),
    createdAtMs: z.int(),
    lastSeenAtMs: z.int(),
    userAgent: z.string(),
  })
  .readonly()
const pendingInstallSchema = z
  .object({
    passwordHash: z.string(),
    session: storedSessionSchema,
    settings: z.array(storedSettingSchema).readonly(),
  })
  .readonly()

/** A row of the settings table: canonical JSON, or sealed by the secret box. */
export type StoredSetting = z.output<typeof storedSettingSchema>
export type StoredSession = z.output<typeof storedSessionSchema>
/** An installation that takes effect once its fact is in the ledger. */
export type PendingInstall = z.output<typeof pendingInstallSchema>

/** A new password that takes effect once the fact with `factKey` is in the ledger. */
export type PendingPassword = {
  readonly factKey: string
  readonly passwordHash: string
  readonly keepSessionId: string | null
}

export const SETTINGS_FORMAT = 1

const SCHEMA = `
  CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL, sealed INTEGER NOT NULL) STRICT;
  CREATE TABLE owner (id INTEGER PRIMARY KEY CHECK (id = 1), passwordHash TEXT NOT NULL) STRICT;
  CREATE TABLE pendingInstall (id INTEGER PRIMARY KEY CHECK (id = 1), content TEXT NOT NULL) STRICT;
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY, tokenHash TEXT NOT NULL UNIQUE,
    createdAtMs INTEGER NOT NULL, lastSeenAtMs INTEGER NOT NULL, userAgent TEXT NOT NULL
  ) STRICT;`
/** Tables added without a new format; older builds ignore them. */
const ADDED = `
  CREATE TABLE IF NOT EXISTS documents (name TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS pendingPassword (
    id INTEGER PRIMARY KEY CHECK (id = 1), factKey TEXT NOT NULL, passwordHash TEXT NOT NULL, keepSessionId TEXT
  ) STRICT;`

export type SettingsStore = ReturnType<typeof createStore>

/**
 * Opens the store, or creates it: mutable state without a history. Calls are synchronous, and durable when they
 * return. Throws SettingsUnusable.
 */
export function openSettingsStore(directory: string): SettingsStore {
  const file = settingsFile(directory)
  makeDirectory(directory)
  try {
    checkHeader(file)
  } catch (error) {
    throw error instanceof LedgerDamaged ? damaged(error.message) : error
  }
  makeFile(file)
  chmodSync(file, 0o600)
  const db = new Database(file)
  try {
    prepareFile(db, file)
    return createStore(db)
  } catch (error) {
    db.close()
    throw isDamage(error) ? damaged(`${file} is damaged: ${messageOf(error)}`) : error
  }
}

/** Whether there is a file with settings. An empty one counts as missing: the service creates it again. */
export const hasSettings = (directory: string): boolean =>
  (statSync(settingsFile(directory), { throwIfNoEntry: false })?.size ?? 0) > 0

/** The store as it is now, in memory: for commands that must not touch the file. Throws SettingsUnusable if it is empty. */
export function copySettingsStore(directory: string): SettingsStore {
  const file = settingsFile(directory)
  checkHeader(file)
  if (!hasSettings(directory)) throw damaged(`${file} is empty`)
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 1000 })
  try {
    return createStore(new Database(db.serialize()))
  } finally {
    db.close()
  }
}

function prepareFile(db: Database.Database, file: string): void {
  // A rollback journal instead of a write-ahead log: writes are rare, and no old content stays behind.
  db.pragma('journal_mode = TRUNCATE')
  db.pragma('synchronous = FULL')
  db.pragma('secure_delete = ON')
  // Short, because it blocks the event loop. Only an operator's tool can hold the file.
  db.pragma('busy_timeout = 1000')
  const format = db.pragma('user_version', { simple: true })
  if (format === 0) {
    db.transaction(() => {
      db.exec(SCHEMA)
      db.pragma(`user_version = ${SETTINGS_FORMAT}`)
    })()
    return
  }
  if (format !== SETTINGS_FORMAT) {
    throw new SettingsUnusable(`${file} has format ${format}; this build reads format ${SETTINGS_FORMAT}`)
  }
  const verdict = db.pragma('integrity_check(1)', { simple: true })
  if (verdict !== 'ok') throw damaged(`${file} is damaged: ${firstFault(verdict)}`)
  // No build creates these. In a manipulated file, a trigger could bring ended sessions back.
  const foreign = db.prepare("SELECT name FROM sqlite_schema WHERE type IN ('trigger', 'view')").pluck().get()
  if (foreign !== undefined) throw damaged(`${file} is damaged: ${foreign} is not part of its schema`)
}

/** The service can start without its settings, but not on its own account: it would forget the password. */
const damaged = (message: string) => new SettingsUnusable(`${message}. ${WITHOUT_SETTINGS}`)

/** How to continue without settings. */
export const WITHOUT_SETTINGS = english`Put back settings.sqlite from a backup. To continue without it, move it away, run npm run owner:reset-password, and enter the settings again.`

/** What to do if the password was lost with the settings. */
export const WITHOUT_PASSWORD = english`There is no password, so nobody can sign in. Stop Delegate, and put back settings.sqlite from a backup, or run npm run owner:reset-password and enter the settings again.`

type SettingRow = { key: string; value: string; sealed: number }

function createStore(db: Database.Database) {
  db.exec(ADDED)
  const getDocument = db.prepare<[string], { content: string }>(
    'SELECT content FROM documents WHERE name = ?',
  )
  const putDocument = db.prepare('INSERT OR REPLACE INTO documents VALUES (?, ?)')
  const allSettings = db.prepare<[], SettingRow>('SELECT key, value, sealed FROM settings')
  const putSetting = db.prepare('INSERT OR REPLACE INTO settings VALUES (?, ?, ?)')
  const dropSetting = db.prepare('DELETE FROM settings WHERE key = ?')
  const dropSealed = db.prepare('DELETE FROM settings WHERE sealed = 1')
  const getHash = db.prepare<[], { passwordHash: string }>('SELECT passwordHash FROM owner')
  const putHash = db.prepare('INSERT OR REPLACE INTO owner VALUES (1, ?)')
  const getNewHash = db.prepare<[], PendingPassword>(
    'SELECT factKey, passwordHash, keepSessionId FROM pendingPassword',
  )
  const putNewHash = db.prepare(
    'INSERT OR REPLACE INTO pendingPassword VALUES (1, @factKey, @passwordHash, @keepSessionId)',
  )
  const dropNewHash = db.prepare('DELETE FROM pendingPassword')
  const getPending = db.prepare<[], { content: string }>('SELECT content FROM pendingInstall')
  const putPending = db.prepare('INSERT OR REPLACE INTO pendingInstall VALUES (1, ?)')
  const dropPending = db.prepare('DELETE FROM pendingInstall')
  const allSessions = db.prepare<[], StoredSession>('SELECT * FROM sessions ORDER BY lastSeenAtMs DESC, id')
  const byToken = db.prepare<[string], StoredSession>('SELECT * FROM sessions WHERE tokenHash = ?')
  const putSession = db.prepare(
    'INSERT INTO sessions VALUES (@id, @tokenHash, @createdAtMs, @lastSeenAtMs, @userAgent)',
  )
  const touch = db.prepare('UPDATE sessions SET createdAtMs = ?, lastSeenAtMs = ? WHERE id = ?')
  const dropSession = db.prepare('DELETE FROM sessions WHERE id = ?')
  const dropOtherSessions = db.prepare('DELETE FROM sessions WHERE id IS NOT ?')

  const putSettings = (settings: readonly StoredSetting[]) => {
    for (const { key, value, sealed } of settings) putSetting.run(key, value, sealed ? 1 : 0)
  }

  return {
    settings: (): StoredSetting[] => allSettings.all().map((row) => ({ ...row, sealed: row.sealed === 1 })),
    writeSettings: db.transaction((settings: readonly StoredSetting[], removed: readonly string[] = []) => {
      putSettings(settings)
      for (const key of removed) dropSetting.run(key)
    }),
    /** Removes values that were sealed with an earlier key. */
    dropSealedSettings: () => void dropSealed.run(),

    /** A document of related settings (memory's, for example), as it was written; null if there is none. */
    document: (name: string) => getDocument.get(name)?.content ?? null,
    writeDocument: (name: string, content: string) => void putDocument.run(name, content),

    passwordHash: () => getHash.get()?.passwordHash ?? null,
    pendingPassword: () => getNewHash.get() ?? null,
    writePendingPassword: (pending: PendingPassword) => void putNewHash.run(pending),
    dropPendingPassword: () => void dropNewHash.run(),
    /** Applies the pending hash and ends every session but `keepSessionId`, in one transaction. */
    completePassword: db.transaction(({ passwordHash, keepSessionId }: PendingPassword) => {
      putHash.run(passwordHash)
      dropOtherSessions.run(keepSessionId)
      dropNewHash.run()
    }),

    pendingInstall(): PendingInstall | null {
      const row = getPending.get()
      return row ? pendingInstallSchema.parse(JSON.parse(row.content)) : null
    },
    writePendingInstall: (pending: PendingInstall) => void putPending.run(JSON.stringify(pending)),
    dropPendingInstall: () => void dropPending.run(),
    /** Applies the pending installation in one transaction. Earlier sessions and their password end. */
    completeInstall: db.transaction((pending: PendingInstall) => {
      putHash.run(pending.passwordHash)
      dropOtherSessions.run(null)
      putSession.run(pending.session)
      putSettings(pending.settings)
      dropPending.run()
    }),

    sessions: () => allSessions.all(),
    sessionByTokenHash: (tokenHash: string) => byToken.get(tokenHash),
    writeSession: (session: StoredSession) => void putSession.run(session),
    touchSession: (id: string, createdAtMs: number, lastSeenAtMs: number) =>
      void touch.run(createdAtMs, lastSeenAtMs, id),
    deleteSessions: db.transaction((ids: readonly string[]) => {
      for (const id of ids) dropSession.run(id)
    }),

    close: () => void db.close(),
  }
}
