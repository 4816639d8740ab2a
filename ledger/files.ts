import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { isRefusedByDisk, LedgerDamaged, messageOf } from './errors.ts'
import { APPLICATION_ID, READABLE_FORMATS } from './schema.ts'

export const ledgerFile = (directory: string): string => join(directory, 'ledger.sqlite')
export const viewsFile = (directory: string): string => join(directory, 'views.sqlite')
/** Where a write-ahead log goes that was put in the place of the open one. */
export const replacedLogFile = (ledger: string): string => `${ledger}-wal.replaced`
/** Staging directory of a restore or an import. It remains only if that was interrupted. */
export const incomingDirectory = (directory: string): string => join(directory, '.incoming')

const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600
const SQLITE_MAGIC = 'SQLite format 3\0'

/** Creates the data directory if missing, accessible to its owner only. */
export function makeDirectory(directory: string): void {
  if (existsSync(directory)) return
  mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE })
  syncDirectory(dirname(directory))
}

/** Creates an empty file if missing, accessible to its owner only. SQLite's log files inherit the mode. */
export function makeFile(file: string): void {
  if (existsSync(file)) return
  closeSync(openSync(file, 'a', FILE_MODE))
  syncDirectory(dirname(file))
}

/** Whether an open ledger's file, write-ahead log and log index are still in place. */
export type Places = {
  readonly hasFile: () => boolean
  readonly hasLog: () => boolean
  readonly hasIndex: () => boolean
}

/**
 * Watches a database's files. If one is moved, deleted or replaced while open, its writer keeps writing to a
 * file that vanishes on close; in WAL mode SQLite does not detect that. Call it after a first read in WAL
 * mode, which creates the log. Uses `stat` only, because opening and closing a file would drop the process's
 * locks.
 */
export function watchFiles(file: string): Places {
  const watch = (path: string) => {
    const { dev, ino } = statSync(path)
    return () => {
      const found = statSync(path, { throwIfNoEntry: false })
      return found?.ino === ino && found.dev === dev
    }
  }
  return { hasFile: watch(file), hasLog: watch(`${file}-wal`), hasIndex: watch(`${file}-shm`) }
}

/** Makes new names in a directory survive a power cut. */
export const syncDirectory = syncFile

/** Flushes a file to disk, even if another process wrote it. */
export function syncFile(file: string): void {
  const descriptor = openSync(file, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Checks a file's header before SQLite opens it, so that a foreign file is refused unchanged. A missing or
 * empty file passes. Call it only while this process does not have the file open: closing a file drops the
 * process's POSIX locks on it, including SQLite's. Throws LedgerDamaged.
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
    throw new LedgerDamaged(`${file} is damaged: it has no SQLite header`)
  }
}

/** Opens an existing ledger read-only. The caller closes it. Throws LedgerDamaged. */
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

/** Throws LedgerDamaged if the database is not a ledger in a readable format. */
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
    throw new LedgerDamaged(`${file} is damaged, or not a Delegate ledger`)
  if (!READABLE_FORMATS.includes(Number(format)))
    throw new LedgerDamaged(
      `${file} has format ${format}; this build reads formats ${READABLE_FORMATS.join(' and ')}`,
    )
}
