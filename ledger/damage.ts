import type Database from 'better-sqlite3'
import { isDamage, messageOf } from './errors.ts'

/** Smaller files are checked in full at start, in about 60 ms; larger ones in a worker after the start. */
const CHECKED_AT_START_BYTES = 16 * 1024 * 1024

/** The first fault that SQLite finds in a database's structure; null if there is none. */
export function findDamage(db: Database.Database): string | null {
  try {
    const tables = db
      .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")
      .all()
    // Table by table, to keep read transactions short: each one blocks checkpoints.
    for (const { name } of tables) {
      const found = db.pragma(`integrity_check(${name})`, { simple: true })
      if (found !== 'ok') return `${name}: ${firstFault(found)}`
    }
    return null
  } catch (error) {
    if (!isDamage(error)) throw error
    return messageOf(error)
  }
}

/** Like `findDamage`, but skips a database that is too large to check at start. */
export function findDamageIfSmall(db: Database.Database): string | null {
  const size = db.prepare<[], { bytes: number }>(
    'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
  )
  if ((size.get()?.bytes ?? 0) > CHECKED_AT_START_BYTES) return null
  const found = db.pragma('integrity_check(1)', { simple: true })
  return found === 'ok' ? null : firstFault(found)
}

/** The first line of what `integrity_check` found, without the heading above it. */
export const firstFault = (found: unknown): string =>
  String(found)
    .replace(/^\*\*\* in database \w+ \*\*\*\n/, '')
    .replace(/\n.*/s, '')
