import { copyFileSync, existsSync, linkSync, mkdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'

const PROBE_DIRECTORY = '.probe'

/**
 * Reads a database as recovery would give it, and leaves it and its log as they are, byte for byte: opening them
 * in place would already recover, and closing them would write the log into the file. So they are opened under
 * second names, read-only, in a directory of their own. Only for the process that holds the directory's lock.
 */
export function probe<T>(file: string, look: (db: Database.Database) => T): T {
  const directory = join(dirname(file), PROBE_DIRECTORY)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { mode: 0o700 })
  try {
    for (const suffix of ['', '-wal']) {
      if (existsSync(`${file}${suffix}`))
        linkOrCopy(`${file}${suffix}`, join(directory, `${basename(file)}${suffix}`))
    }
    const db = new Database(join(directory, basename(file)), { readonly: true, fileMustExist: true })
    try {
      return look(db)
    } finally {
      db.close()
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    // Some file systems have no hard links; then it takes a copy.
    copyFileSync(from, to)
  }
}
