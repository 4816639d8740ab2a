import type { Database } from 'better-sqlite3'
import type { EventOf } from '../ledger/event.ts'
import { defineProjection } from './projection.ts'

/** Length of the ISO time prefix that names an hour. */
const HOUR_CHARS = 13

export type SpendingRow = {
  readonly hour: string
  readonly purpose: EventOf<'spend.reserved'>['facts']['purpose']
  readonly channel: string
  readonly micros: number
}

type Window = EventOf<'allowance.reached'>['facts']['window']
type Open = {
  readonly hour: string
  readonly purpose: string
  readonly channel: string
  readonly turnId: string | null
  readonly micros: number
}

/**
 * Money by hour, purpose and channel, and by turn, in millionths of a dollar. A reservation counts in full
 * until it is settled; its settlement corrects the hour in which it was made. `lastSeq` is the last fact that
 * changed an hour.
 */
export const spendingProjection = defineProjection({
  name: 'spending',
  version: 1,
  tables: ['spending_open', 'spending_hours', 'spending_turns', 'allowance_reached', 'allowance_raises'],
  schema: `
    CREATE TABLE spending_open (reservationId TEXT PRIMARY KEY, hour TEXT NOT NULL, purpose TEXT NOT NULL,
      channel TEXT NOT NULL, turnId TEXT, micros INTEGER NOT NULL) WITHOUT ROWID, STRICT;
    CREATE TABLE spending_hours (hour TEXT NOT NULL, purpose TEXT NOT NULL, channel TEXT NOT NULL,
      micros INTEGER NOT NULL, lastSeq INTEGER NOT NULL, PRIMARY KEY (hour, purpose, channel)) WITHOUT ROWID, STRICT;
    CREATE TABLE spending_turns (turnId TEXT PRIMARY KEY, micros INTEGER NOT NULL) WITHOUT ROWID, STRICT;
    CREATE TABLE allowance_reached (span TEXT NOT NULL, level INTEGER NOT NULL, seq INTEGER NOT NULL,
      at TEXT NOT NULL, limitMicros INTEGER NOT NULL, PRIMARY KEY (span, level)) WITHOUT ROWID, STRICT;
    CREATE TABLE allowance_raises (seq INTEGER PRIMARY KEY, at TEXT NOT NULL, micros INTEGER NOT NULL) STRICT;`,
  fold(db) {
    const open = db.prepare('INSERT OR IGNORE INTO spending_open VALUES (?, ?, ?, ?, ?, ?)')
    const find = db.prepare<[string], Open>('SELECT * FROM spending_open WHERE reservationId = ?')
    const close = db.prepare('DELETE FROM spending_open WHERE reservationId = ?')
    const addHour = db.prepare(`INSERT INTO spending_hours VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET micros = micros + excluded.micros, lastSeq = excluded.lastSeq`)
    const addTurn = db.prepare(`INSERT INTO spending_turns VALUES (?, ?)
      ON CONFLICT DO UPDATE SET micros = micros + excluded.micros`)
    const reached = db.prepare('INSERT OR REPLACE INTO allowance_reached VALUES (?, ?, ?, ?, ?)')
    const raise = db.prepare('INSERT INTO allowance_raises VALUES (?, ?, ?)')

    function add({ hour, purpose, channel, turnId, micros }: Open, seq: number): void {
      addHour.run(hour, purpose, channel, micros, seq)
      if (turnId !== null) addTurn.run(turnId, micros)
    }

    return {
      handlers: {
        'spend.reserved': ({ seq, at, channel, turnId, facts }) => {
          const { reservationId, purpose, amountMicros } = facts
          const row = {
            hour: at.slice(0, HOUR_CHARS),
            purpose,
            channel: channel ?? 'system',
            turnId,
            micros: amountMicros,
          }
          const { changes } = open.run(reservationId, row.hour, purpose, row.channel, turnId, amountMicros)
          if (changes > 0) add(row, seq)
        },
        'spend.settled': ({ seq, facts: { reservationId, amountMicros } }) => {
          const row = find.get(reservationId)
          if (!row) return
          add({ ...row, micros: amountMicros - row.micros }, seq)
          close.run(reservationId)
        },
        'allowance.reached': ({ seq, at, facts }) =>
          void reached.run(facts.window, facts.level, seq, at, facts.limitMicros),
        'allowance.raised': ({ seq, at, facts }) => void raise.run(seq, at, facts.amountMicros),
      },
    }
  },
})

export type SpendingQueries = ReturnType<typeof createSpendingQueries>

export function createSpendingQueries(views: Database) {
  const total = views
    .prepare<[string, number], number | null>(
      'SELECT sum(micros) FROM spending_hours WHERE hour >= ? AND lastSeq > ?',
    )
    .pluck()
  const reserved = views.prepare<[], number | null>('SELECT sum(micros) FROM spending_open').pluck()
  const isOpen = views
    .prepare<[string], number>('SELECT 1 FROM spending_open WHERE reservationId = ?')
    .pluck()
  const ofTurn = views.prepare<[string], number>('SELECT micros FROM spending_turns WHERE turnId = ?').pluck()
  const hours = views.prepare<[string], SpendingRow>(
    'SELECT hour, purpose, channel, micros FROM spending_hours WHERE hour >= ? AND micros > 0 ORDER BY hour',
  )
  const reached = views.prepare<[Window, number], { seq: number; at: string; limitMicros: number }>(
    'SELECT seq, at, limitMicros FROM allowance_reached WHERE span = ? AND level = ?',
  )
  const raised = views
    .prepare<[string], number | null>('SELECT sum(micros) FROM allowance_raises WHERE at > ?')
    .pluck()
  return {
    /** Micros spent or reserved since the start of the hour of `at`, in hours that a fact after `afterSeq` changed. */
    totalFrom: (at: string, afterSeq: number) => total.get(at.slice(0, HOUR_CHARS), afterSeq) ?? 0,
    /** Micros reserved and not settled. */
    reserved: () => reserved.get() ?? 0,
    isOpen: (reservationId: string) => isOpen.get(reservationId) !== undefined,
    /** What a turn cost, in micros; null if nothing was recorded. */
    ofTurn: (turnId: string) => ofTurn.get(turnId) ?? null,
    /** Hours with spending, from the hour of `at` on, oldest first. */
    hoursFrom: (at: string) => hours.all(at.slice(0, HOUR_CHARS)),
    /** The last fact that recorded this level; undefined if there is none. */
    reached: (window: Window, level: 80 | 100) => reached.get(window, level),
    /** Micros that the owner allowed in addition since `at`. */
    raisedSince: (at: string) => raised.get(at) ?? 0,
  }
}
