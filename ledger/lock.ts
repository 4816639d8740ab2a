import { join } from 'node:path'
import Database from 'better-sqlite3'
import { diskCauseOf } from './causes.ts'
import { isDamage, LedgerDamaged, LedgerLocked } from './errors.ts'
import { makeFile } from './files.ts'

export type DirectoryLock = { release(): void }

/**
 * Admits one process to a data directory: an exclusive transaction on `lock.sqlite`, held open for as long as
 * the process lives. The kernel drops it when the process dies, however it dies. Throws LedgerLocked,
 * LedgerDamaged where the file is no lock, and whatever the disk refuses with.
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
      throw new LedgerDamaged(`${file} is damaged. It holds nothing: delete it, and start again`, { cause })
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
