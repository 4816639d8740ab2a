import type Database from 'better-sqlite3'
import { isDamage, messageOf } from './errors.ts'

/** Up to this size every page and index is checked at each start, some 60 ms; of a larger file, in a worker after it. */
const CHECKED_AT_START_BYTES = 16 * 1024 * 1024

/** The first thing that SQLite finds wrong with the structure of a database; null when nothing is. */
export function findDamage(db: Database.Database): string | null {
  try {
    const tables = db
      .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")
      .all()
    // Table by table, so that no read transaction holds the log for long.
    for (const { name } of tables) {
      const found = db.pragma(`integrity_check(${name})`, { simple: true })
      if (found !== 'ok') return `${name}: ${found}`
    }
    return null
  } catch (error) {
    if (!isDamage(error)) throw error
    return messageOf(error)
  }
}

/** The same, for a database that is so small that it takes no time. */
export function findDamageIfSmall(db: Database.Database): string | null {
  const size = db.prepare<[], { bytes: number }>(
    'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
  )
  if ((size.get()?.bytes ?? 0) > CHECKED_AT_START_BYTES) return null
  const found = db.pragma('integrity_check(1)', { simple: true })
  return found === 'ok' ? null : String(found)
}
