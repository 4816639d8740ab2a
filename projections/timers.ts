import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type TimerRow = {
  timerId: string
  /** The event with its title. */
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
}

export const timersProjection = defineProjection({
  name: 'timers',
  version: 2,
  tables: ['timers'],
  schema: `
    CREATE TABLE timers (
      timerId TEXT PRIMARY KEY, setSeq INTEGER NOT NULL, status TEXT NOT NULL, dueAt TEXT NOT NULL,
      dueSeq INTEGER NOT NULL, recurrence TEXT, timezone TEXT NOT NULL, missedPolicy TEXT NOT NULL, by TEXT NOT NULL,
      createdAt TEXT NOT NULL, lastFiredAt TEXT, conversationId TEXT
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX timers_due ON timers (dueAt) WHERE status = 'active';`,
  fold(db) {
    const set =
      db.prepare(`INSERT OR IGNORE INTO timers VALUES (@timerId, @seq, 'active', @dueAt, @seq, @recurrence,
      @timezone, @missedPolicy, @by, @at, NULL, @conversationId)`)
    const fire =
      db.prepare(`UPDATE timers SET lastFiredAt = coalesce(@firedAt, lastFiredAt), dueAt = coalesce(@nextAt, dueAt),
      dueSeq = @seq,
      status = CASE WHEN status = 'cancelled' THEN status WHEN @nextAt IS NULL THEN 'done' ELSE 'active' END
      WHERE timerId = @timerId`)
    const cancel = db.prepare("UPDATE timers SET status = 'cancelled' WHERE timerId = ?")
    return {
      handlers: {
        'timer.set': ({ seq, at, conversationId, facts }) =>
          void set.run({ seq, at, conversationId, ...facts }),
        'timer.fired': ({ seq, at, facts: { timerId, nextAt } }) =>
          void fire.run({ timerId, seq, firedAt: at, nextAt }),
        'timer.missed': ({ seq, facts: { timerId, nextAt } }) =>
          void fire.run({ timerId, seq, firedAt: null, nextAt }),
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
    due: (now: string) => due.all(now),
    nextDueAt: () => next.get()?.dueAt ?? null,
  }
}
