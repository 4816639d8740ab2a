import Database from 'better-sqlite3'
import { type DiskCause, diskCauseOf } from './causes.ts'

/** The ledger cannot be written now (disk full or failing). Nothing was appended; a retry may succeed. */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable'
  /** Null if the disk is not the cause, for example while the service closes. */
  readonly disk: DiskCause | null
  /** Whether the facts may turn out to be recorded after all. */
  readonly isUnsure: boolean
  constructor(
    message: string,
    options: { cause?: unknown; disk?: DiskCause | null; isUnsure?: boolean } = {},
  ) {
    super(message, { cause: options.cause })
    this.disk = options.disk ?? diskCauseOf(options.cause)
    this.isUnsure = options.isUnsure ?? false
  }
}

/** The files differ from what this service wrote. It refuses to start on them. */
export class LedgerDamaged extends Error {
  override readonly name = 'LedgerDamaged'
  /** The first damaged event, if known. */
  readonly seq: number | null
  constructor(message: string, options: { cause?: unknown; seq?: number | null } = {}) {
    super(message, { cause: options.cause })
    this.seq = options.seq ?? null
  }
}

/** Another process holds the data directory. */
export class LedgerLocked extends Error {
  override readonly name = 'LedgerLocked'
}

/** The caller's fact does not match its schema: a bug. */
export class InvalidEvent extends Error {
  override readonly name = 'InvalidEvent'
}

/** Whether SQLite reports a corrupt file. */
export function isDamage(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
}

/** Whether the file or its disk is at fault (full, failing, damaged) rather than the statement. */
export function isFileFault(error: unknown): boolean {
  return (
    isDamage(error) ||
    (error instanceof Database.SqliteError &&
      /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|NOMEM|PROTOCOL)/.test(error.code))
  )
}

/** Whether the disk is at fault (full, read-only, failing) while the file may be intact. */
export function isRefusedByDisk(error: unknown): boolean {
  const cause = diskCauseOf(error)
  return cause !== null && cause !== 'damaged'
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
