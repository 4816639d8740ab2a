import type { Database } from 'better-sqlite3'
import type { LedgerReader } from '../../ledger/reader.ts'
import { isSearchIndex } from '../../projections/merge-index.ts'
import type { Projection } from '../../projections/projection.ts'
import { createProjector, type FoldTrace } from '../../projections/projector.ts'

export type ReplayOptions = {
  readonly ledger: LedgerReader
  /** An empty database, which the replay fills. */
  readonly views: Database
  readonly projections: readonly Projection[]
  /** The head by default. */
  readonly throughSeq?: number
  readonly trace?: FoldTrace | undefined
}

const STEP_EVENTS = 50_000

/** Folds the ledger from its first event into an empty database. Throws if a projection stalls. */
export function replay({ ledger, views, projections, throughSeq, trace }: ReplayOptions): void {
  const bounded = throughSeq === undefined ? ledger : readThrough(ledger, throughSeq)
  const warn = () => undefined
  const projector = createProjector({ db: views, ledger: bounded, projections, warn, trace })
  while (projector.catchUp(STEP_EVENTS) || projector.catchUpLagging(STEP_EVENTS));
  const stalled = projector.status().find(({ error }) => error !== null)
  if (stalled) throw new Error(`${stalled.name} stalled after event ${stalled.seq}: ${stalled.error}`)
}

/** The ledger as if it ended at `lastSeq`; bodies erased since are still missing. */
function readThrough(ledger: LedgerReader, lastSeq: number): LedgerReader {
  return { ...ledger, head: () => ({ seq: lastSeq, hash: ledger.hashAt(lastSeq) ?? '' }) }
}

/** A table that differs between two copies of the views, and its first differing row. */
export type Difference = { readonly table: string; readonly expected: unknown; readonly actual: unknown }

/**
 * Compares two copies of the views row by row, and search indexes by word and position. Returns the number of
 * equal rows, up to the first difference if there is one.
 */
export function compareViews(
  expected: Database,
  actual: Database,
  tables: readonly string[],
): { readonly rows: number; readonly difference: Difference | null } {
  let rows = 0
  for (const table of tables) {
    const actualRows = readInOrder(actual, table)
    try {
      for (const row of readInOrder(expected, table)) {
        const other: unknown = actualRows.next().value
        if (JSON.stringify(row) !== JSON.stringify(other))
          return { rows, difference: { table, expected: row, actual: other } }
        rows += 1
      }
      const extra = actualRows.next()
      if (!extra.done) return { rows, difference: { table, expected: undefined, actual: extra.value } }
    } finally {
      // An open cursor blocks its connection.
      actualRows.return(undefined)
    }
  }
  return { rows, difference: null }
}

function* readInOrder(db: Database, table: string): Generator<unknown> {
  if (isSearchIndex(db, table)) {
    yield* db.prepare(`SELECT rowid, * FROM ${table} ORDER BY rowid`).iterate()
    db.exec(
      `CREATE VIRTUAL TABLE IF NOT EXISTS temp.${table}_words USING fts5vocab(main, ${table}, instance)`,
    )
    yield* db.prepare(`SELECT * FROM temp.${table}_words ORDER BY term`).iterate()
    return
  }
  const key = db
    .prepare<[string], { name: string }>('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk')
    .all(table)
    .map(({ name }) => name)
  yield* db.prepare(`SELECT * FROM ${table} ORDER BY ${key.join(', ') || 'rowid'}`).iterate()
}
