import type { Database } from 'better-sqlite3'
import type { SeqRange } from '../ledger/reader.ts'

/** Consecutive events of one span; `spanStart` is 0 if they have none. */
export type Run = SeqRange & { readonly spanStart: number }

/** Limits queries to one conversation; null means all runs. */
export type Scope = { readonly conversationStart: number } | null

const CHUNK_RUNS = 64

export type RunQueries = ReturnType<typeof createRunQueries>

export function createRunQueries(views: Database) {
  const everywhere = statementsFor(views, '')
  const inConversation = statementsFor(views, 'conversationStart = ? AND ')
  const after = views.prepare<[{ conversationStart: number; seq: number; limit: number }], Run>(
    `SELECT max(firstSeq, @seq + 1) AS firstSeq, lastSeq, spanStart FROM timeline_runs
     WHERE conversationStart = @conversationStart AND lastSeq > @seq AND firstSeq >= coalesce(
       (SELECT max(firstSeq) FROM timeline_runs WHERE conversationStart = @conversationStart AND firstSeq <= @seq), 0)
     ORDER BY timeline_runs.firstSeq LIMIT @limit`,
  )
  const statements = (scope: Scope) => (scope ? inConversation : everywhere)
  const values = (scope: Scope) => (scope ? [scope.conversationStart] : [])
  return {
    /** Up to `limit` events, newest first, of the runs that `accept` keeps; the oldest run is cut to fit. */
    before(
      scope: Scope,
      beforeSeq: number,
      limit: number,
      accept: (runs: readonly Run[]) => readonly Run[],
    ): Run[] {
      const accepted: Run[] = []
      let wanted = limit
      let from = beforeSeq
      while (wanted > 0) {
        const chunk = statements(scope).before.all(...values(scope), from, CHUNK_RUNS)
        for (const run of accept(chunk.map((run) => endBefore(run, from)))) {
          if (wanted === 0) break
          const firstSeq = Math.max(run.firstSeq, run.lastSeq - wanted + 1)
          accepted.push({ ...run, firstSeq })
          wanted -= run.lastSeq - firstSeq + 1
        }
        from = chunk.at(-1)?.firstSeq ?? 0
        if (chunk.length < CHUNK_RUNS) break
      }
      return accepted
    },
    /** A span's runs before a seq. */
    ofSpan: (scope: Scope, spanStart: number, beforeSeq: number) =>
      statements(scope)
        .ofSpan.all(...values(scope), spanStart, beforeSeq)
        .map((run) => endBefore(run, beforeSeq)),
    /** The spans among `starts` that have an event in the range, inclusive at both ends. */
    spansBetween: (scope: Scope, starts: readonly number[], fromSeq: number, toSeq: number) =>
      statements(scope)
        .between.all(JSON.stringify(starts), ...values(scope), toSeq, fromSeq)
        .map(({ start }) => start),
    /** A conversation's runs after a seq, oldest first, at most `limit`. */
    after: (conversationStart: number, seq: number, limit: number) =>
      after.all({ conversationStart, seq, limit }),
  }
}

function statementsFor(views: Database, condition: string) {
  return {
    before: views.prepare<number[], Run>(
      `SELECT firstSeq, lastSeq, spanStart FROM timeline_runs WHERE ${condition}firstSeq < ?
       ORDER BY firstSeq DESC LIMIT ?`,
    ),
    ofSpan: views.prepare<number[], Run>(
      `SELECT firstSeq, lastSeq, spanStart FROM timeline_runs WHERE ${condition}spanStart = ? AND firstSeq < ?`,
    ),
    // Runs do not overlap, so the last one to begin is also the last one to end.
    between: views.prepare<(string | number)[], { start: number }>(
      `SELECT value AS start FROM json_each(?) WHERE (
         SELECT lastSeq FROM timeline_runs WHERE ${condition}spanStart = value AND firstSeq <= ?
         ORDER BY firstSeq DESC LIMIT 1) >= ?`,
    ),
  }
}

function endBefore(run: Run, seq: number): Run {
  return run.lastSeq < seq ? run : { ...run, lastSeq: seq - 1 }
}

export function countEvents(runs: readonly SeqRange[]): number {
  return runs.reduce((count, { firstSeq, lastSeq }) => count + lastSeq - firstSeq + 1, 0)
}

/** The seqs of the runs' events, in the order of the runs. */
export function seqsOf(runs: readonly SeqRange[]): number[] {
  return runs.flatMap(({ firstSeq, lastSeq }) =>
    Array.from({ length: lastSeq - firstSeq + 1 }, (_, index) => firstSeq + index),
  )
}
