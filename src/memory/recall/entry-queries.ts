import type { Database } from 'better-sqlite3'
import { type EntryRow, FIRST_MEMORY_ID } from '../../../projections/recall-entries.ts'
import type { SittingSpan } from './features.ts'

const COLUMNS = 'id, seq, speaker, atMs, sitting, traits, length'

/** Queries over the recall entries. */
export function createEntryQueries(views: Database) {
  const lastTurn = views
    .prepare<[number], number>(
      `SELECT id FROM recall_entries WHERE id < ${FIRST_MEMORY_ID} AND seq < ? ORDER BY id DESC LIMIT 1`,
    )
    .pluck()
  const byIds = views.prepare<[string], EntryRow>(
    `SELECT ${COLUMNS} FROM recall_entries WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`,
  )
  const bySeqs = views.prepare<[string], EntryRow>(
    `SELECT ${COLUMNS} FROM recall_entries WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY id`,
  )
  // A covering index, so no row is read.
  const idsAt = views
    .prepare<[string], number>('SELECT id FROM recall_entries WHERE seq IN (SELECT value FROM json_each(?))')
    .pluck()
  const sittings = views.prepare<[string], SittingSpan>(
    'SELECT firstId, lastId FROM recall_sittings WHERE firstId IN (SELECT value FROM json_each(?))',
  )
  const sittingsWithin = views.prepare<[number, number, number], SittingSpan>(
    'SELECT firstId, lastId FROM recall_sittings WHERE startMs >= ? AND startMs < ? ORDER BY startMs DESC LIMIT ?',
  )
  const period = views.prepare<[], { fromMs: number | null; toMs: number | null }>(
    // Separate subqueries let SQLite read one end of the index each, instead of all of it.
    `SELECT (SELECT min(startMs) FROM recall_sittings) AS fromMs, (SELECT max(startMs) FROM recall_sittings) AS toMs`,
  )
  return {
    /** The last turn before an event; 0 if there is none. */
    lastTurnBefore: (seq: number) => lastTurn.get(seq) ?? 0,
    byIds: (ids: readonly number[]) => byIds.all(JSON.stringify(ids)),
    bySeqs: (seqs: readonly number[]) => (seqs.length === 0 ? [] : bySeqs.all(JSON.stringify(seqs))),
    /** Ids of the entries of events, skipping events without one. */
    idsAt: (seqs: readonly number[]) => idsAt.all(JSON.stringify(seqs)),
    /** Sittings by the id of their first turn. */
    sittings: (firstIds: readonly number[]) =>
      new Map(sittings.all(JSON.stringify([...new Set(firstIds)])).map((span) => [span.firstId, span])),
    /** Sittings that started in a period, newest first, at most `limit`. */
    sittingsWithin: (fromMs: number, toMs: number, limit: number) => sittingsWithin.all(fromMs, toMs, limit),
    /** Start of the first and of the last sitting; null if there is none. */
    period(): { readonly fromMs: number; readonly toMs: number } | null {
      const { fromMs, toMs } = period.get() ?? { fromMs: null, toMs: null }
      return fromMs === null || toMs === null ? null : { fromMs, toMs }
    },
  }
}
