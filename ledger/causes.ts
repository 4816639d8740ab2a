import { accessSync, constants, readdirSync, statfsSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Why a disk, or a file on it, cannot be used. */
export type DiskCause = 'full' | 'read_only' | 'forbidden' | 'locked' | 'moved' | 'damaged' | 'failing'

/** What is wrong and what the operator can do about it, in full sentences without paths. */
export const diskRemedies: Record<DiskCause, string> = {
  full: 'The disk is full. Free some space, but do not delete any file in DATA_DIR.',
  read_only:
    'The disk is read-only. Make it writable again. A disk that becomes read-only by itself may be failing: check the system log.',
  forbidden:
    'Permission denied. Make the user that runs the service the owner of DATA_DIR and everything in it.',
  locked: 'Another process is using the files. Stop that process, or choose another DATA_DIR.',
  moved: 'A file in DATA_DIR was moved, deleted or replaced. Put it back, or restart Delegate.',
  damaged:
    'A file is damaged. Run npm run ledger:verify to locate the damage, then restore a backup or run npm run ledger:salvage.',
  failing: 'The disk fails to read or write. Check the system log, and move DATA_DIR to another disk.',
}

/** What happened to a file of the ledger while it was open, in sentences that follow each other. */
export const movedFiles = {
  ledger: 'ledger.sqlite was moved, deleted or replaced. Put it back, or restart Delegate.',
  log: 'ledger.sqlite-wal or ledger.sqlite-shm was moved, deleted or replaced while the service ran.',
  saved: 'Its content is saved in ledger.sqlite: restart the service.',
  unsaved: 'Its content is not saved yet.',
} as const

const SQLITE_CAUSES: readonly (readonly [RegExp, DiskCause])[] = [
  [/^SQLITE_FULL/, 'full'],
  [/^SQLITE_READONLY_DBMOVED/, 'moved'],
  [/^SQLITE_READONLY/, 'read_only'],
  [/^SQLITE_(CANTOPEN|PERM|AUTH)/, 'forbidden'],
  [/^SQLITE_(BUSY|LOCKED)/, 'locked'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'damaged'],
  [/^SQLITE_(IOERR|PROTOCOL)/, 'failing'],
]

const SYSTEM_CAUSES: Readonly<Record<string, DiskCause>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EFBIG: 'full',
  EROFS: 'read_only',
  EACCES: 'forbidden',
  EPERM: 'forbidden',
  EIO: 'failing',
  ENXIO: 'failing',
  ENODEV: 'failing',
  ESTALE: 'failing',
}

const NAMED_CAUSES: Readonly<Record<string, DiskCause>> = {
  LedgerDamaged: 'damaged',
  LedgerLocked: 'locked',
}

/** Codes that SQLite also reports for a read-only disk, missing permissions or a full disk. */
const VAGUE = /^SQLITE_(READONLY|CANTOPEN|IOERR)/

/**
 * The disk fault behind an error or its cause; null if the disk is not at fault. Matches by code and name,
 * because errors from another thread lose their class. Inspects `directory`, if given, when SQLite's code is
 * ambiguous. Never throws.
 */
export function diskCauseOf(error: unknown, directory?: string): DiskCause | null {
  if (!(error instanceof Error)) return null
  const code = 'code' in error ? String(error.code) : ''
  const named = SQLITE_CAUSES.find(([pattern]) => pattern.test(code))?.[1] ?? SYSTEM_CAUSES[code]
  if (named === undefined) return diskCauseOf(error.cause, directory) ?? NAMED_CAUSES[error.name] ?? null
  if (directory === undefined || !VAGUE.test(code)) return named
  // If the directory looks fine, SQLITE_CANTOPEN has some other cause.
  return inspectDirectory(directory) ?? (named === 'forbidden' ? null : named)
}

/** Checks permissions and free space; null if both are fine. */
function inspectDirectory(directory: string): DiskCause | null {
  try {
    checkAccess(directory)
    return statfsSync(directory).bavail === 0 ? 'full' : null
  } catch (error) {
    return diskCauseOf(error)
  }
}

/** Throws the system's error, which names the path, if this account may not read and write a database. */
function checkAccess(directory: string): void {
  const files = readdirSync(directory).filter((name) => name.includes('.sqlite'))
  for (const path of [directory, ...files.map((name) => join(directory, name))])
    accessSync(path, constants.R_OK | constants.W_OK)
}

/** One line for the operator: the remedy, then the system's message. Null if the disk is not at fault. */
export function describeDisk(error: unknown, directory?: string): string | null {
  const cause = diskCauseOf(error, directory)
  if (cause === 'forbidden' && directory !== undefined && isElsewhere(error, directory))
    return `Permission denied. Give the account of this command the right to it, or choose another place. (${error instanceof Error ? error.message : error})`
  if (cause === null) return null
  const denied = cause === 'forbidden' && directory !== undefined ? deniedIn(directory) : null
  return `${diskRemedies[cause]} (${denied ?? (error instanceof Error ? error.message : error)})`
}

/** What the system says about the first path that this account may not use. SQLite says only that it cannot. */
function deniedIn(directory: string): string | null {
  try {
    checkAccess(directory)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Whether the error names a path outside of `directory`. */
function isElsewhere(error: unknown, directory: string): boolean {
  return (
    error instanceof Error &&
    'path' in error &&
    typeof error.path === 'string' &&
    relative(directory, error.path).startsWith('..')
  )
}
