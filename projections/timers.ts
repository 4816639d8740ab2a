import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type TimerRow = {
  timerId: string
  /** The event with its title: the one that set it or that changed it last. */
  setSeq: number
  status: 'active' | 'done' | 'cancelled'
  /** The next occurrence, or the last one of a finished timer. */
  dueAt: string
  /** The event that set `dueAt`. */
  dueSeq: number
  recurrence: string | null
  timezone: string
  missedPolicy: 'fire_once' | 'skip'
  by: 'owner' | 'delegate'
  createdAt: string
  lastFiredAt: string | null
  conversationId: string | null
  /** The last occurrence that fired or was missed. */
  occurrence: string | null
  /** When it fired or was missed. */
  openedAt: string | null
  /** What became of it; null while it is open. */
  settled: 'done' | 'snoozed' | null
  /** The timer and its occurrence that this one reminds of again. */
  snoozesId: string | null
  snoozesOccurrence: string | null
}

/** The last occurrence, unless it is done, snoozed or no longer wanted, or fired or was missed before `since`. */
export function openOccurrence(row: TimerRow, since = ''): string | null {
  const { status, occurrence, openedAt, settled } = row
  return status === 'cancelled' || settled !== null || (openedAt ?? '') <= since ? null : occurrence
}

export const timersProjection = defineProjection({
  name: 'timers',
  version: 4,
  tables: ['timers'],
  schema: `
    CREATE TABLE timers (
      timerId TEXT PRIMARY KEY, setSeq INTEGER NOT NULL, status TEXT NOT NULL, dueAt TEXT NOT NULL,
      dueSeq INTEGER NOT NULL, recurrence TEXT, timezone TEXT NOT NULL, missedPolicy TEXT NOT NULL, by TEXT NOT NULL,
      createdAt TEXT NOT NULL, lastFiredAt TEXT, conversationId TEXT,
      occurrence TEXT, openedAt TEXT, settled TEXT, snoozesId TEXT, snoozesOccurrence TEXT
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX timers_due ON timers (dueAt) WHERE status = 'active';`,
  fold(db) {
    const set =
      db.prepare(`INSERT OR IGNORE INTO timers VALUES (@timerId, @seq, 'active', @dueAt, @seq, @recurrence,
      @timezone, @missedPolicy, @by, @at, NULL, @conversationId, NULL, NULL, NULL, @snoozesId, @snoozesOccurrence)`)
    const change = db.prepare(`UPDATE timers SET setSeq = @seq, dueAt = @dueAt, dueSeq = @seq,
      recurrence = @recurrence, timezone = @timezone WHERE timerId = @timerId AND status = 'active'`)
    const pass = db.prepare(
      'UPDATE timers SET occurrence = ?, openedAt = ?, settled = NULL WHERE timerId = ?',
    )
    const settle = db.prepare(
      'UPDATE timers SET settled = ? WHERE timerId = ? AND occurrence = ? AND settled IS NULL',
    )
    const fire =
      db.prepare(`UPDATE timers SET lastFiredAt = coalesce(@firedAt, lastFiredAt), dueAt = coalesce(@nextAt, dueAt),
      dueSeq = @seq,
      status = CASE WHEN status = 'cancelled' THEN status WHEN @nextAt IS NULL THEN 'done' ELSE 'active' END
      WHERE timerId = @timerId`)
    const cancel = db.prepare("UPDATE timers SET status = 'cancelled' WHERE timerId = ?")
    return {
      handlers: {
        'timer.set': ({ seq, at, conversationId, facts: { snoozes, ...facts } }) => {
          const { timerId: snoozesId = null, occurrence: snoozesOccurrence = null } = snoozes ?? {}
          set.run({ seq, at, conversationId, snoozesId, snoozesOccurrence, ...facts })
          if (snoozes) settle.run('snoozed', snoozesId, snoozesOccurrence)
        },
        'timer.changed': ({ seq, facts: { timerId, dueAt, recurrence, timezone } }) =>
          void change.run({ seq, timerId, dueAt, recurrence, timezone }),
        'timer.fired': ({ seq, at, facts: { timerId, occurrence, nextAt } }) => {
          fire.run({ timerId, seq, firedAt: at, nextAt })
          pass.run(occurrence, at, timerId)
        },
        'timer.missed': ({ seq, at, facts: { timerId, occurrence, missed, nextAt } }) => {
          fire.run({ timerId, seq, firedAt: null, nextAt })
          if (missed > 0) pass.run(occurrence, at, timerId)
        },
        'timer.done': ({ facts }) => void settle.run('done', facts.timerId, facts.occurrence),
        'timer.cancelled': ({ facts }) => void cancel.run(facts.timerId),
      },
    }
  },
})

/** A timer's position in the list of all timers; `over` is 0 for an active one. */
export type TimerPlace = { readonly over: 0 | 1; readonly dueAt: string; readonly timerId: string }

const BEFORE_ALL: TimerPlace = { over: 0, dueAt: '', timerId: '' }

export function createTimerQueries(views: Database) {
  const byId = views.prepare<[string], TimerRow>('SELECT * FROM timers WHERE timerId = ?')
  const active = views.prepare<[], TimerRow>(
    "SELECT * FROM timers WHERE status = 'active' ORDER BY dueAt, timerId",
  )
  const pageOf = views.prepare<[{ over: 0 | 1; dueAt: string; timerId: string; limit: number }], TimerRow>(
    `SELECT * FROM timers
     WHERE (status <> 'active') > @over
       OR ((status <> 'active') = @over
         AND CASE @over WHEN 0 THEN dueAt > @dueAt ELSE dueAt < @dueAt END)
       OR ((status <> 'active') = @over AND dueAt = @dueAt AND timerId > @timerId)
     ORDER BY status <> 'active', CASE status WHEN 'active' THEN dueAt END, dueAt DESC, timerId LIMIT @limit`,
  )
  const open = views.prepare<[string, number], TimerRow>(
    `SELECT * FROM timers WHERE openedAt > ? AND settled IS NULL AND status <> 'cancelled'
     ORDER BY occurrence DESC, timerId LIMIT ?`,
  )
  const snoozeOf = views.prepare<[string, string], TimerRow>(
    'SELECT * FROM timers WHERE snoozesId = ? AND snoozesOccurrence = ? ORDER BY setSeq LIMIT 1',
  )
  const due = views.prepare<[string], TimerRow>(
    "SELECT * FROM timers WHERE status = 'active' AND dueAt <= ? ORDER BY dueAt",
  )
  const next = views.prepare<[], { dueAt: string | null }>(
    "SELECT min(dueAt) AS dueAt FROM timers WHERE status = 'active'",
  )
  return {
    byId: (timerId: string) => byId.get(timerId),
    /** Soonest first. */
    active: () => active.all(),
    /** Active timers, soonest first, then finished ones, latest first. Null starts at the beginning. */
    page: (limit: number, after: TimerPlace | null) => pageOf.all({ ...(after ?? BEFORE_ALL), limit }),
    /** Timers whose last occurrence is open and fired or was missed after `since`, latest first. */
    open: (since: string, limit: number) => open.all(since, limit),
    /** The timer that reminds again of an occurrence. */
    snoozeOf: (timerId: string, occurrence: string) => snoozeOf.get(timerId, occurrence),
    due: (now: string) => due.all(now),
    nextDueAt: () => next.get()?.dueAt ?? null,
  }
}
