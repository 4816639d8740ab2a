import Database from 'better-sqlite3'

/**
 * Opens a database whose statements are planned once, when they are prepared.
 *
 * SQLite plans a statement anew, which takes ten times as long as running it, whenever a parameter is bound again whose
 * value might change the plan (https://sqlite.org/c3ref/prepare.html, on sqlite3_prepare_v2). Built with STAT4, as
 * better-sqlite3 is, it takes that to be so for most comparisons with a column, and for every LIMIT; without ANALYZE,
 * which we never run, the new plan is the old one. A unary plus before the parameter changes neither its value nor its
 * type, and hides it from the planner.
 */
export function openDatabase(file: string, options?: Database.Options): Database.Database {
  const db = new Database(file, options)
  const prepare = db.prepare
  // The types of its parameters and rows are the caller's claim, here as there.
  db.prepare = ((sql: string) => prepare.call(db, hideParameters(sql))) as typeof db.prepare
  return db
}

/** Texts, names and comments, which are passed over, or a parameter. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(\?\d*|[@:$][A-Za-z_]\w*)/g

/** The same statement with a unary plus before each parameter. */
export function hideParameters(sql: string): string {
  return sql.replace(TOKENS, (token: string, parameter: string | undefined) =>
    parameter === undefined ? token : `+${token}`,
  )
}
