import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type CallRow = {
  callSid: string
  offeredSeq: number
  party: 'owner' | 'guest'
  /** Null once erased. */
  number: string | null
  conversationId: string | null
  spanId: string | null
  offeredAt: string
  connectedAt: string | null
  endedAt: string | null
}

/**
 * Accepted calls, their utterances and refused PINs. `call_guests` also counts guests' calls that were rejected.
 */
export const callsProjection = defineProjection({
  name: 'calls',
  version: 5,
  tables: ['calls', 'call_guests', 'call_words', 'call_pins'],
  schema: `
    CREATE TABLE calls (
      callSid TEXT PRIMARY KEY, offeredSeq INTEGER NOT NULL UNIQUE, party TEXT NOT NULL, number TEXT, conversationId TEXT,
      spanId TEXT, offeredAt TEXT NOT NULL, connectedAt TEXT, endedAt TEXT
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX calls_open ON calls (offeredSeq) WHERE endedAt IS NULL;
    CREATE INDEX calls_by_offer ON calls (offeredAt);
    CREATE INDEX calls_by_number ON calls (number) WHERE number IS NOT NULL;
    CREATE TABLE call_guests (seq INTEGER PRIMARY KEY, at TEXT NOT NULL, number TEXT) STRICT;
    CREATE INDEX call_guests_by_time ON call_guests (at);
    CREATE TABLE call_words (seq INTEGER PRIMARY KEY, callSid TEXT NOT NULL) STRICT;
    CREATE INDEX call_words_by_call ON call_words (callSid, seq);
    CREATE TABLE call_pins (seq INTEGER PRIMARY KEY, at TEXT NOT NULL) STRICT;
    CREATE INDEX call_pins_by_time ON call_pins (at);`,
  fold(db) {
    const offer = db.prepare(`INSERT OR IGNORE INTO calls
      VALUES (@callSid, @seq, @party, @number, @conversationId, @spanId, @at, NULL, NULL)`)
    const guest = db.prepare('INSERT INTO call_guests VALUES (?, ?, ?)')
    const connect = db.prepare('UPDATE calls SET connectedAt = ? WHERE callSid = ?')
    const end = db.prepare('UPDATE calls SET endedAt = ? WHERE callSid = ?')
    const say = db.prepare('INSERT OR IGNORE INTO call_words VALUES (?, ?)')
    const refusePin = db.prepare('INSERT INTO call_pins VALUES (?, ?)')
    const forgetWords = db.prepare('DELETE FROM call_words WHERE seq = ?')
    const forgetNumber = db.prepare('UPDATE calls SET number = NULL WHERE offeredSeq = ?')
    const forgetGuest = db.prepare('UPDATE call_guests SET number = NULL WHERE seq = ?')
    return {
      handlers: {
        'call.offered': ({ seq, at, conversationId, spanId, facts, body }) => {
          const number = body?.from ?? null
          offer.run({ seq, at, conversationId, spanId, number, ...facts })
          if (facts.party === 'guest') guest.run(seq, at, number)
        },
        'call.rejected': ({ seq, at, facts, body }) => {
          if (facts.party === 'guest') guest.run(seq, at, body?.from ?? null)
        },
        'call.connected': ({ at, facts }) => void connect.run(at, facts.callSid),
        'call.ended': ({ at, facts }) => void end.run(at, facts.callSid),
        'call.pin.refused': ({ seq, at }) => void refusePin.run(seq, at),
        'call.utterance.heard': ({ seq, facts }) => void say.run(seq, facts.callSid),
        'call.reply.spoken': ({ seq, facts }) => void say.run(seq, facts.callSid),
        erased: ({ facts }) => {
          for (const seq of facts.seqs) {
            forgetWords.run(seq)
            forgetNumber.run(seq)
            forgetGuest.run(seq)
          }
        },
      },
    }
  },
})

export function createCallQueries(views: Database) {
  const bySid = views.prepare<[string], CallRow>('SELECT * FROM calls WHERE callSid = ?')
  const open = views.prepare<[], CallRow>('SELECT * FROM calls WHERE endedAt IS NULL ORDER BY offeredSeq')
  const guestsSince = views
    .prepare<[string, number], string | null>('SELECT number FROM call_guests WHERE at >= ? AND seq > ?')
    .pluck()
  const takenSince = views.prepare<[string, number], { count: number }>(
    'SELECT count(*) AS count FROM calls WHERE offeredAt >= ? AND offeredSeq > ?',
  )
  const pinsSince = views
    .prepare<[string, number], number>('SELECT count(*) FROM call_pins WHERE at >= ? AND seq > ?')
    .pluck()
  const ofNumber = views
    .prepare<[string, number], number>(
      `SELECT seq FROM call_words JOIN calls USING (callSid) WHERE number = ? AND party = 'guest'
       ORDER BY seq DESC LIMIT ?`,
    )
    .pluck()
  const ofCall = views
    .prepare<[string, number], number>(
      'SELECT seq FROM call_words WHERE callSid = ? ORDER BY seq DESC LIMIT ?',
    )
    .pluck()
  return {
    bySid: (callSid: string) => bySid.get(callSid),
    /** Calls without an end: in progress, or interrupted by a crash. */
    open: () => open.all(),
    /** The number of each guest call recorded since `at` and after `afterSeq`; null if erased. */
    guestNumbersSince: (at: string, afterSeq: number) => guestsSince.all(at, afterSeq),
    /** Accepted calls of any party since `at` and after `afterSeq`. */
    takenSince: (at: string, afterSeq: number) => takenSince.get(at, afterSeq)?.count ?? 0,
    /** Wrong PINs since `at` and after `afterSeq`. */
    refusedPinsSince: (at: string, afterSeq: number) => pinsSince.get(at, afterSeq) ?? 0,
    /** The last utterances in guest calls from this number, oldest first. */
    guestWordSeqs: (number: string, limit: number) => ofNumber.all(number, limit).reverse(),
    /** The last utterances of a call, oldest first. */
    wordSeqs: (callSid: string, limit: number) => ofCall.all(callSid, limit).reverse(),
  }
}

export type CallQueries = ReturnType<typeof createCallQueries>
