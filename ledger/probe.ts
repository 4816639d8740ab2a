import { copyFileSync, existsSync, linkSync, mkdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'

const PROBE_DIRECTORY = '.probe'

/**
 * Reads a database as it would be after recovery, without changing a byte. Opening it in place would run
 * recovery, and closing it would checkpoint the log, so it is opened read-only through hard links in a
 * separate directory. Requires the directory's lock.
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
    // Some file systems have no hard links.
    copyFileSync(from, to)
  }
}
