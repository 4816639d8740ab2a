import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type ReadingRow = {
  readingId: string
  requestedSeq: number
  requestedAt: string
  status: 'running' | 'completed' | 'cancelled'
  /** Facts to read, and how many of them were read or failed. */
  parts: number
  read: number
  failed: number
  candidates: number
}

/** A candidate that the owner has not decided on. */
export type CandidateRow = { seq: number; candidate: number }

/** Readings of imported conversations, what is left to read, and the candidates that they found. */
export const importReadingsProjection = defineProjection({
  name: 'import_readings',
  version: 1,
  tables: ['import_readings', 'import_unread', 'import_candidates'],
  schema: `
    CREATE TABLE import_readings (
      readingId TEXT PRIMARY KEY, requestedSeq INTEGER NOT NULL, requestedAt TEXT NOT NULL, status TEXT NOT NULL,
      parts INTEGER NOT NULL, read INTEGER NOT NULL, failed INTEGER NOT NULL, candidates INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE import_unread (readingId TEXT NOT NULL, partSeq INTEGER NOT NULL, PRIMARY KEY (readingId, partSeq))
    WITHOUT ROWID, STRICT;
    CREATE TABLE import_candidates (
      seq INTEGER NOT NULL, candidate INTEGER NOT NULL, readingId TEXT NOT NULL, canonicalKey TEXT NOT NULL,
      hidden INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (seq, candidate)
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX import_candidates_by_words ON import_candidates (canonicalKey);`,
  fold(db) {
    const request = db.prepare(
      "INSERT OR IGNORE INTO import_readings VALUES (?, ?, ?, 'running', 0, 0, 0, 0)",
    )
    const grow = db.prepare('UPDATE import_readings SET parts = parts + ? WHERE readingId = ?')
    const wait = db.prepare('INSERT OR IGNORE INTO import_unread VALUES (?, ?)')
    const read = db.prepare('DELETE FROM import_unread WHERE readingId = ? AND partSeq = ?')
    const progress = db.prepare(
      'UPDATE import_readings SET read = read + 1, failed = failed + ?, candidates = candidates + ? WHERE readingId = ?',
    )
    const find = db.prepare(
      'INSERT OR IGNORE INTO import_candidates VALUES (@seq, @index, @readingId, @key, 0)',
    )
    const decide = db.prepare('DELETE FROM import_candidates WHERE seq = ? AND candidate = ?')
    const end = db.prepare('UPDATE import_readings SET status = ? WHERE readingId = ?')
    const stop = db.prepare('DELETE FROM import_unread WHERE readingId = ?')
    const hide = db.prepare('UPDATE import_candidates SET hidden = ? WHERE seq = ?')
    const erase = db.prepare('DELETE FROM import_candidates WHERE seq = ?')
    return {
      handlers: {
        'import.reading.requested': ({ seq, at, facts: { readingId, partSeqs } }) => {
          request.run(readingId, seq, at)
          grow.run(partSeqs.length, readingId)
          for (const partSeq of partSeqs) wait.run(readingId, partSeq)
        },
        'import.reading.progressed': ({ seq, facts: { readingId, partSeq, candidates, failure }, body }) => {
          read.run(readingId, partSeq)
          progress.run(failure === undefined ? 0 : 1, candidates.length, readingId)
          for (const [index, { canonicalKey: key }] of (body?.words ?? []).entries())
            find.run({ seq, index, readingId, key })
        },
        'import.reading.ended': ({ facts }) => {
          end.run(facts.reason, facts.readingId)
          stop.run(facts.readingId)
        },
        'import.candidates.decided': ({ facts }) => {
          for (const { seq, index } of facts.candidates) decide.run(seq, index)
        },
        'erasure.requested': ({ facts }) => {
          for (const seq of facts.seqs) hide.run(1, seq)
        },
        'erasure.undone': ({ facts }) => {
          for (const seq of facts.seqs) hide.run(0, seq)
        },
        erased: ({ facts }) => {
          for (const seq of facts.seqs) erase.run(seq)
        },
      },
    }
  },
})

export function createReadingQueries(views: Database) {
  const byId = views.prepare<[string], ReadingRow>('SELECT * FROM import_readings WHERE readingId = ?')
  const newest = views.prepare<[number], ReadingRow>(
    'SELECT * FROM import_readings ORDER BY requestedSeq DESC LIMIT ?',
  )
  const running = views.prepare<[], ReadingRow>(
    "SELECT * FROM import_readings WHERE status = 'running' ORDER BY requestedSeq",
  )
  const unread = views
    .prepare<[string], number>(
      'SELECT partSeq FROM import_unread WHERE readingId = ? ORDER BY partSeq LIMIT 1',
    )
    .pluck()
  // What several conversations say is offered once.
  const first = `hidden = 0 AND NOT EXISTS (
    SELECT 1 FROM import_candidates AS earlier WHERE earlier.canonicalKey = import_candidates.canonicalKey
      AND earlier.hidden = 0 AND (earlier.seq, earlier.candidate) < (import_candidates.seq, import_candidates.candidate))`
  const candidates = views.prepare<[number, number, number], CandidateRow>(
    `SELECT seq, candidate FROM import_candidates WHERE (seq, candidate) > (?, ?) AND ${first}
     ORDER BY seq, candidate LIMIT ?`,
  )
  const same = views.prepare<[number, number], CandidateRow>(
    `SELECT seq, candidate FROM import_candidates WHERE hidden = 0 AND canonicalKey = (
       SELECT canonicalKey FROM import_candidates WHERE seq = ? AND candidate = ? AND hidden = 0)`,
  )
  const count = views.prepare<[], number>(`SELECT count(*) FROM import_candidates WHERE ${first}`).pluck()
  return {
    byId: (readingId: string) => byId.get(readingId),
    /** Newest first. */
    newest: (limit: number) => newest.all(limit),
    /** The first that has not ended. */
    running: () => running.get(),
    /** All that have not ended, oldest first. */
    unfinished: () => running.all(),
    /** The next fact to read; undefined if all were read. */
    unread: (readingId: string) => unread.get(readingId),
    /** Undecided candidates, in the order in which they were found. */
    candidates: (after: { readonly seq: number; readonly index: number }, limit: number) =>
      candidates.all(after.seq, after.index, limit),
    /** The candidate and all that say the same; none if it is decided. */
    same: (seq: number, index: number) => same.all(seq, index),
    candidateCount: () => count.get() ?? 0,
  }
}

export type ReadingQueries = ReturnType<typeof createReadingQueries>
