import { rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { findDamageIfSmall } from '../ledger/damage.ts'
import { checkHeader, makeFile, viewsFile } from '../ledger/files.ts'
import { scanLog } from '../ledger/log.ts'

/** Nobody else writes the views; if somebody does, the facts must not wait for them. */
const BUSY_MS = 100

/**
 * Opens the views for their one writer. `synchronous=NORMAL`: a power cut may leave them behind the ledger, never
 * wrong. Throws when the file or its log is damaged; then `removeViews` and open again: the ledger has it all.
 */
export function openViewsForWriting(directory: string): Database.Database {
  const file = viewsFile(directory)
  checkHeader(file)
  // Recovery would keep what stands before a torn frame: older than the file, where that had been written since.
  if (scanLog(`${file}-wal`).torn) throw new Error(`${file}-wal is torn`)
  makeFile(file)
  const db = new Database(file, { timeout: BUSY_MS })
  try {
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.pragma('secure_delete = ON')
    db.pragma('temp_store = MEMORY')
    const damage = findDamageIfSmall(db)
    if (damage !== null) throw new Error(damage)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Empties a views database in place, whatever state its tables are in, so that the connections which others hold
 * go on. Throws when not even its first page can be used.
 */
export function emptyViews(db: Database.Database): void {
  db.unsafeMode(true)
  try {
    db.pragma('writable_schema = ON')
    db.exec('DELETE FROM sqlite_schema')
    db.pragma('writable_schema = RESET')
    // What the tables held is on no list now; this makes the file anew without it.
    db.exec('VACUUM')
  } finally {
    db.pragma('writable_schema = OFF')
    db.unsafeMode(false)
  }
}

/** Deletes the views; the next start makes them anew from the ledger. */
export function removeViews(directory: string): void {
  for (const suffix of ['', '-wal', '-shm'])
    rmSync(`${viewsFile(directory)}${suffix}`, { recursive: true, force: true })
}

/** Opens the views for queries. The caller closes it. */
export function openViewsReadOnly(directory: string): Database.Database {
  return new Database(viewsFile(directory), { readonly: true, fileMustExist: true })
}
