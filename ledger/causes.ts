import { accessSync, constants, readdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

/** Why a disk or the files on it cannot be used. Each has a remedy of its own. */
export type DiskCause = 'full' | 'read_only' | 'forbidden' | 'locked' | 'damaged' | 'failing'

/** What it is and what the operator does about it: whole sentences, without a path. */
export const diskRemedies: Record<DiskCause, string> = {
  full: 'The disk is full. Free some space on it; delete no file of DATA_DIR.',
  read_only:
    'The disk is read-only. Make it writable again. A disk that turned read-only by itself may be failing: look at the system’s log.',
  forbidden:
    'The user of this process may not use the files. Give DATA_DIR and everything in it to the user that runs the service.',
  locked: 'Another process holds the files. Stop that process, or choose another DATA_DIR.',
  damaged: 'A file is damaged. Run npm run ledger:verify, which names the damage; then restore a backup.',
  failing: 'The disk fails to read or write. Look at the system’s log, and move DATA_DIR to another disk.',
}

const SQLITE_CAUSES: readonly (readonly [RegExp, DiskCause])[] = [
  [/^SQLITE_FULL/, 'full'],
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

/** What SQLite says of more than one cause: of a read-only disk, of rights that are missing, of a disk without room. */
const VAGUE = /^SQLITE_(READONLY|CANTOPEN|IOERR)/

/**
 * What is wrong with the disk or its files, by an error or by what caused it; null where the disk is not at fault. An
 * error that lost its class on its way from another thread is told by its code. Where SQLite's code may mean several
 * causes and `directory` is given, the directory is looked at. Never throws.
 */
export function diskCauseOf(error: unknown, directory?: string): DiskCause | null {
  if (!(error instanceof Error)) return null
  const code = 'code' in error ? String(error.code) : ''
  const named = SQLITE_CAUSES.find(([pattern]) => pattern.test(code))?.[1] ?? SYSTEM_CAUSES[code]
  if (named === undefined) return diskCauseOf(error.cause, directory) ?? NAMED_CAUSES[error.name] ?? null
  if (directory === undefined || !VAGUE.test(code)) return named
  // Where everything may be used, the file cannot be opened for some other reason.
  return seenCause(directory) ?? (named === 'forbidden' ? null : named)
}

/** What the directory itself shows: whether it may be written, and whether there is room. */
function seenCause(directory: string): DiskCause | null {
  try {
    const files = readdirSync(directory).filter((name) => name.includes('.sqlite'))
    for (const path of [directory, ...files.map((name) => join(directory, name))])
      accessSync(path, constants.R_OK | constants.W_OK)
    return statfsSync(directory).bavail === 0 ? 'full' : null
  } catch (error) {
    return diskCauseOf(error)
  }
}

/** One line for people: what to do, then what the system said. Null where the disk is not at fault. */
export function describeDisk(error: unknown, directory?: string): string | null {
  const cause = diskCauseOf(error, directory)
  return cause === null ? null : `${diskRemedies[cause]} (${error instanceof Error ? error.message : error})`
}
