import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { isRefusedByDisk, LedgerDamaged, messageOf } from './errors.ts'
import { APPLICATION_ID, READABLE_FORMATS } from './schema.ts'

export const ledgerFile = (directory: string): string => join(directory, 'ledger.sqlite')
export const viewsFile = (directory: string): string => join(directory, 'views.sqlite')
/** Where a restore or an import makes a directory before it is one; gone at its end, unless that is cut short. */
export const incomingDirectory = (directory: string): string => join(directory, '.incoming')

const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600
const SQLITE_MAGIC = 'SQLite format 3\0'

/** Makes the data directory where there is none, readable by its owner alone. */
export function makeDirectory(directory: string): void {
  if (existsSync(directory)) return
  mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE })
  syncDirectory(dirname(directory))
}

/** Makes an empty file, readable by its owner alone; SQLite gives its log files the same mode. */
export function makeFile(file: string): void {
  if (existsSync(file)) return
  closeSync(openSync(file, 'a', FILE_MODE))
  syncDirectory(dirname(file))
}

/**
 * Tells whether a name still leads to the file that it led to when this was made. Whoever moves, deletes or replaces an
 * open database leaves its writer with a file that goes when it is closed, and SQLite looks for that in a rollback
 * journal's mode alone. Without opening it: that would cost the process its locks.
 */
export function watchPlace(file: string): () => boolean {
  const { dev, ino } = statSync(file)
  return () => {
    const found = statSync(file, { throwIfNoEntry: false })
    return found?.ino === ino && found.dev === dev
  }
}

/** A new name in a directory survives a power cut only once the directory itself is synced. */
export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Looks at the first bytes of a file before SQLite does, so that a file which is not ours is refused untouched.
 * An absent or empty file is fine: it is to be made. Only before anything in this process has it open: closing a
 * file drops the POSIX locks that the process holds on it, SQLite's too. Throws LedgerDamaged.
 */
export function checkHeader(file: string): void {
  if (!existsSync(file) || statSync(file).size === 0) return
  const header = Buffer.alloc(100)
  const descriptor = openSync(file, 'r')
  try {
    readSync(descriptor, header, 0, header.length, 0)
  } finally {
    closeSync(descriptor)
  }
  if (header.toString('latin1', 0, 16) !== SQLITE_MAGIC) {
    throw new LedgerDamaged(`${file} is damaged: its header is not that of an SQLite database`)
  }
}

/** Opens the ledger for reading only; it must exist. The caller closes it. Throws LedgerDamaged. */
export function openLedgerReadOnly(directory: string): Database.Database {
  const file = ledgerFile(directory)
  const db = new Database(file, { readonly: true, fileMustExist: true })
  try {
    checkFormat(db, file)
  } catch (error) {
    db.close()
    throw error
  }
  return db
}

/** Refuses a database that is not a ledger of this format. Throws LedgerDamaged. */
export function checkFormat(db: Database.Database, file: string): void {
  let applicationId: unknown
  let format: unknown
  try {
    applicationId = db.pragma('application_id', { simple: true })
    format = db.pragma('user_version', { simple: true })
  } catch (cause) {
    if (isRefusedByDisk(cause)) throw cause
    throw new LedgerDamaged(`${file} is damaged: ${messageOf(cause)}`, { cause })
  }
  if (applicationId !== APPLICATION_ID)
    throw new LedgerDamaged(`${file} is damaged, or is not a ledger of Delegate`)
  if (!READABLE_FORMATS.includes(Number(format)))
    throw new LedgerDamaged(
      `${file} has format ${format}; this build reads formats ${READABLE_FORMATS.join(' and ')}`,
    )
}
