import Database from 'better-sqlite3'
import { type DiskCause, diskCauseOf } from './causes.ts'

/** The disk refused (full, failing): nothing of the append was kept, and a later try may succeed. */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable'
  /** Why the disk refused; null where it is not the disk, as when the service is closing. */
  readonly disk: DiskCause | null
  constructor(message: string, options: { cause?: unknown; disk?: DiskCause | null } = {}) {
    super(message, { cause: options.cause })
    this.disk = options.disk ?? diskCauseOf(options.cause)
  }
}

/** The files are not what this service wrote: it refuses to go on rather than build on sand. */
export class LedgerDamaged extends Error {
  override readonly name = 'LedgerDamaged'
  /** The first event that is not as it was written, where that is known. */
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

/** The caller's fact does not fit its schema: a bug, not a condition. */
export class InvalidEvent extends Error {
  override readonly name = 'InvalidEvent'
}

/** Whether SQLite found a file to be other than it left it. */
export function isDamage(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
}

/** Whether a file or the disk beneath it is at fault (full, failing, damaged), not the statement. */
export function isFileFault(error: unknown): boolean {
  return (
    isDamage(error) ||
    (error instanceof Database.SqliteError &&
      /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|NOMEM|PROTOCOL)/.test(error.code))
  )
}

/** Whether the disk refuses (full, read-only, failing), which says nothing about what the file holds. */
export function isRefusedByDisk(error: unknown): boolean {
  const cause = diskCauseOf(error)
  return cause !== null && cause !== 'damaged'
}

/** What whatever was thrown says of itself. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
