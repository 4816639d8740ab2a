import { rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { checkHeader, makeFile, viewsFile } from '../ledger/files.ts'

/**
 * Opens the views for their one writer. They are disposable: a file that cannot be read is thrown away and made
 * anew by replay. `synchronous=NORMAL`: a power cut may leave them behind the ledger, never wrong.
 */
export function openViewsForWriting(directory: string): Database.Database {
  const file = viewsFile(directory)
  try {
    checkHeader(file)
    return configure(file)
  } catch {
    // Whatever is wrong with it, the ledger has it all: start from nothing.
    removeViews(directory)
    return configure(file)
  }
}

function configure(file: string): Database.Database {
  makeFile(file)
  const db = new Database(file)
  try {
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.pragma('secure_delete = ON')
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Deletes the views; the next start makes them anew from the ledger. */
export function removeViews(directory: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${viewsFile(directory)}${suffix}`, { force: true })
}

/** Opens the views for queries. The caller closes it. */
export function openViewsReadOnly(directory: string): Database.Database {
  return new Database(viewsFile(directory), { readonly: true, fileMustExist: true })
}
