import type { Database } from 'better-sqlite3'

/** Pages written by one step: some 2 ms, and 25 ms for a word that occurs in 200,000 texts, which is written at once. */
const STEP_PAGES = 16

/**
 * Writes an FTS5 table again from the words that are left, a short step at a time. FTS5's `secure-delete` takes words
 * off the pages, but `<table>_idx` keeps naming a page by the beginning of the word that was first on it. Merging all
 * segments into one names every page again (https://sqlite.org/fts5.html#the_merge_command). Nothing else may write to
 * the table meanwhile: FTS5 would merge the new segments first, and the whole index again with them.
 */
export function* mergeIndex(db: Database, table: string): Generator<'merging'> {
  const merge = db.prepare<[number]>(`INSERT INTO ${table}(${table}, rank) VALUES ('merge', ?)`)
  const changes = db.prepare<[], number>('SELECT total_changes()').pluck()
  addSegment(db, table)
  // A negative number first marks all segments for one merge; positive ones carry it on.
  for (let pages = -STEP_PAGES; ; pages = STEP_PAGES) {
    const before = changes.get() ?? 0
    merge.run(pages)
    // By FTS5's documentation, fewer than two changes mean that nothing was left to merge.
    if ((changes.get() ?? 0) - before < 2) return
    yield 'merging'
  }
}

/** FTS5 leaves a single segment as it is, so an entry comes and goes, and leaves a second one. */
function addSegment(db: Database, table: string): void {
  const column = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().get(table)
  db.transaction(() => {
    db.exec(`INSERT INTO ${table}(rowid, ${column}) VALUES (-1, 'x')`)
    db.exec(`INSERT INTO ${table}(${table}, rowid, ${column}) VALUES ('delete', -1, 'x')`)
  })()
}

/** Whether a table is a full-text index. */
export function isSearchIndex(db: Database, table: string): boolean {
  const found = db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ? AND sql LIKE ?')
  return found.get(table, '%USING fts5%') !== undefined
}
