import { join } from 'node:path'
import Database from 'better-sqlite3'
import { diskCauseOf } from './causes.ts'
import { isDamage, LedgerDamaged, LedgerLocked } from './errors.ts'
import { makeFile } from './files.ts'

export type DirectoryLock = { release(): void }

/**
 * Locks a data directory for this process with an exclusive transaction on `lock.sqlite`. The kernel releases
 * the lock when the process ends, in whatever way. Throws LedgerLocked, LedgerDamaged, or the disk's error.
 */
export function lockDirectory(directory: string): DirectoryLock {
  const file = join(directory, 'lock.sqlite')
  makeFile(file)
  const db = new Database(file, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    db.close()
    if (isDamage(cause))
      throw new LedgerDamaged(`${file} is damaged. It contains no data: delete it, and start again`, {
        cause,
      })
    if (diskCauseOf(cause) !== 'locked') throw cause
    throw new LedgerLocked(`another process uses ${directory}; stop it first, or choose another DATA_DIR`, {
      cause,
    })
  }
  return {
    release() {
      if (db.open) db.close()
    },
  }
}
