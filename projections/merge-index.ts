import type { Database } from 'better-sqlite3'

/** Pages per step: about 2 ms, or 25 ms for a word in 200,000 texts, which is written at once. */
const STEP_PAGES = 16

/**
 * Rewrites an FTS5 table in short steps, so that deleted words leave no trace. FTS5's `secure-delete` removes
 * words from pages, but `<table>_idx` still names a page by the prefix of its former first word. Merging all
 * segments rewrites these names (https://sqlite.org/fts5.html#the_merge_command). Nothing else may write to
 * the table meanwhile: FTS5 would merge the new segments first, and then the whole index again.
 */
export function* mergeIndex(db: Database, table: string): Generator<'merging'> {
  const merge = db.prepare<[number]>(`INSERT INTO ${table}(${table}, rank) VALUES ('merge', ?)`)
  const changes = db.prepare<[], number>('SELECT total_changes()').pluck()
  addSegment(db, table)
  // A negative number starts a merge of all segments; positive numbers continue it.
  for (let pages = -STEP_PAGES; ; pages = STEP_PAGES) {
    const before = changes.get() ?? 0
    merge.run(pages)
    // FTS5 documents fewer than two changes as the end of the merge.
    if ((changes.get() ?? 0) - before < 2) return
    yield 'merging'
  }
}

/** FTS5 never merges a single segment, so this adds a second one by inserting and deleting an entry. */
function addSegment(db: Database, table: string): void {
  const column = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().get(table)
  db.transaction(() => {
    db.exec(`INSERT INTO ${table}(rowid, ${column}) VALUES (-1, 'x')`)
    db.exec(`DELETE FROM ${table} WHERE rowid = -1`)
  })()
}

export function isSearchIndex(db: Database, table: string): boolean {
  const found = db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ? AND sql LIKE ?')
  return found.get(table, '%USING fts5%') !== undefined
}
