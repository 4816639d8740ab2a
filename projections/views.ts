import { rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { findDamageIfSmall } from '../ledger/damage.ts'
import { checkHeader, makeFile, viewsFile } from '../ledger/files.ts'
import { scanLog } from '../ledger/log.ts'

/** Appends must not wait for another writer of the views; there should be none. */
const BUSY_MS = 100

/**
 * Opens the views for their only writer. With `synchronous=NORMAL` a power cut may leave them behind the
 * ledger, but never wrong. Throws if the file or its log is damaged; then call `removeViews` and open again.
 */
export function openViewsForWriting(directory: string): Database.Database {
  const file = viewsFile(directory)
  checkHeader(file)
  // Recovery would keep the frames before a torn one, which may be older than the file.
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
 * Empties a views database in place, even if its tables are damaged, so that other connections stay valid.
 * Throws if its first page is unusable.
 */
export function emptyViews(db: Database.Database): void {
  db.unsafeMode(true)
  try {
    db.pragma('writable_schema = ON')
    db.exec('DELETE FROM sqlite_schema')
    db.pragma('writable_schema = RESET')
    // Rebuilds the file without the pages of the dropped tables.
    db.exec('VACUUM')
  } finally {
    db.pragma('writable_schema = OFF')
    db.unsafeMode(false)
  }
}

/** Deletes the views; the next start rebuilds them from the ledger. */
export function removeViews(directory: string): void {
  for (const suffix of ['', '-wal', '-shm'])
    rmSync(`${viewsFile(directory)}${suffix}`, { recursive: true, force: true })
}

/** Opens the views for queries. The caller closes the connection. */
export function openViewsReadOnly(directory: string): Database.Database {
  return new Database(viewsFile(directory), { readonly: true, fileMustExist: true })
}
