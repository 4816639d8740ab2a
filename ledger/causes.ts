/** Why the disk refuses, as far as the operator has to do something else about each. */
export type DiskCause = 'full' | 'read_only' | 'forbidden' | 'locked' | 'damaged' | 'failing'

const CODES: readonly (readonly [DiskCause, RegExp])[] = [
  ['full', /^(?:SQLITE_FULL|ENOSPC|EDQUOT)/],
  // Not a file that a rollback would have to be written to: nobody made it read-only.
  ['read_only', /^(?:SQLITE_READONLY(?!_DBMOVED)|EROFS)/],
  ['forbidden', /^(?:SQLITE_(?:CANTOPEN|PERM|AUTH)|EACCES|EPERM)/],
  ['locked', /^(?:SQLITE_(?:BUSY|LOCKED|PROTOCOL)|EAGAIN|EBUSY)/],
  ['damaged', /^SQLITE_(?:CORRUPT|NOTADB)/],
  ['failing', /^(?:SQLITE_IOERR|EIO)/],
]

/** The cause that an error of SQLite or the file system names, be it as its own cause; null where it names none. */
export function diskCauseOf(error: unknown): DiskCause | null {
  if (!(error instanceof Error)) return null
  const code = 'code' in error ? String(error.code) : ''
  const found = CODES.find(([, pattern]) => pattern.test(code))
  return found ? found[0] : diskCauseOf(error.cause)
}

/** What is wrong and what to do, without the name of a file. */
export const diskRemedies: Readonly<Record<DiskCause, string>> = {
  full: 'The disk is full. Free some space; Delegate goes on by itself.',
  read_only: 'The disk is mounted read-only. Mount it for writing again; it may have failed.',
  forbidden:
    'The data may not be read or written. Give the user that runs Delegate its files and directory back.',
  locked: 'Another program has locked the data. End it; Delegate goes on by itself.',
  damaged: 'The data is damaged. Stop Delegate, run npm run ledger:verify, and restore a backup.',
  failing: 'The disk reports errors. Make a backup to another disk and replace this one.',
}
