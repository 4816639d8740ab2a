import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

/** Texts that wait for the end of an outage. */
export type DelayedTexts = {
  /** All waiting texts, including those behind the delayed one. */
  readonly count: number
  /** When the first of them was requested. */
  readonly since: string
  /** Why the last attempt failed. */
  readonly kind: string | null
}

/** The result of the last text given to the provider's API. */
export type TelephonyOutcome = {
  readonly at: string
  /** 1 if the API works, even if it refused the text; else 0. */
  readonly ok: number
  readonly kind: string | null
}

const OUTAGES: ReadonlySet<string> = new Set(['unavailable', 'rate_limited', 'credentials'])

export type LostTextRow = {
  messageSid: string
  sentSeq: number
  status: 'undelivered' | 'failed'
  errorCode: number | null
}

/** Progress of each status. A status that ranks no higher than the known one is ignored. */
const RANK: Readonly<Record<string, number>> = {
  accepted: 1,
  scheduled: 1,
  queued: 2,
  sending: 3,
  sent: 4,
  partially_delivered: 5,
  delivered: 6,
  undelivered: 6,
  failed: 6,
  canceled: 6,
  read: 7,
}

/** Texts by number, opt-outs, and the status of outgoing texts. */
export const textsProjection = defineProjection({
  name: 'texts',
  version: 7,
  tables: [
    'texts',
    'text_guests',
    'text_opt_words',
    'text_waiting',
    'text_sent',
    'text_lost',
    'text_statuses',
    'text_outcome',
  ],
  schema: `
    CREATE TABLE texts (seq INTEGER PRIMARY KEY, number TEXT, party TEXT NOT NULL, incoming INTEGER NOT NULL,
      at TEXT NOT NULL) STRICT;
    CREATE INDEX texts_by_number ON texts (number, seq) WHERE number IS NOT NULL;
    CREATE INDEX texts_sent ON texts (at) WHERE incoming = 0;
    CREATE TABLE text_guests (seq INTEGER PRIMARY KEY, at TEXT NOT NULL, number TEXT) STRICT;
    CREATE INDEX text_guests_by_time ON text_guests (at);
    CREATE TABLE text_opt_words (seq INTEGER PRIMARY KEY, number TEXT NOT NULL, out INTEGER NOT NULL) STRICT;
    CREATE INDEX text_opt_words_by_number ON text_opt_words (number, seq);
    CREATE TABLE text_waiting (deliveryId TEXT PRIMARY KEY, requestedSeq INTEGER NOT NULL, requestedAt TEXT NOT NULL,
      kind TEXT, delayed INTEGER NOT NULL) WITHOUT ROWID, STRICT;
    CREATE TABLE text_outcome (one INTEGER PRIMARY KEY CHECK (one = 1), at TEXT NOT NULL, ok INTEGER NOT NULL, kind TEXT)
      STRICT;
    CREATE TABLE text_sent (seq INTEGER PRIMARY KEY, messageSid TEXT NOT NULL) STRICT;
    CREATE INDEX text_sent_by_sid ON text_sent (messageSid);
    CREATE TABLE text_lost (messageSid TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;
    CREATE TABLE text_statuses (messageSid TEXT PRIMARY KEY, status TEXT NOT NULL, rank INTEGER NOT NULL, errorCode INTEGER)
      WITHOUT ROWID, STRICT;
    CREATE INDEX text_statuses_lost ON text_statuses (messageSid) WHERE status IN ('undelivered', 'failed');`,
  fold(db) {
    const text = db.prepare('INSERT INTO texts VALUES (@seq, @number, @party, @incoming, @at)')
    const guest = db.prepare('INSERT INTO text_guests VALUES (@seq, @at, @number)')
    const opt = db.prepare('INSERT INTO text_opt_words VALUES (?, ?, ?)')
    const request = db.prepare('INSERT OR IGNORE INTO text_waiting VALUES (@deliveryId, @seq, @at, NULL, 0)')
    const wait = db.prepare('UPDATE text_waiting SET kind = ? WHERE deliveryId = ?')
    const delay = db.prepare('UPDATE text_waiting SET delayed = 1, kind = ? WHERE deliveryId = ?')
    const outcome = db.prepare('INSERT OR REPLACE INTO text_outcome VALUES (1, @at, @ok, @kind)')
    const end = db.prepare('DELETE FROM text_waiting WHERE deliveryId = ?')
    const sent = db.prepare('INSERT INTO text_sent (messageSid, seq) VALUES (?, ?)')
    const markLost = db.prepare('INSERT OR IGNORE INTO text_lost VALUES (?)')
    const report = db.prepare(`INSERT INTO text_statuses VALUES (@messageSid, @status, @rank, @errorCode)
      ON CONFLICT (messageSid) DO UPDATE SET status = excluded.status, rank = excluded.rank, errorCode = excluded.errorCode
      WHERE excluded.rank > text_statuses.rank`)
    // Erased texts still count towards the daily budget.
    const forgetNumber = db.prepare('UPDATE texts SET number = NULL WHERE seq = ?')
    const forgetGuest = db.prepare('UPDATE text_guests SET number = NULL WHERE seq = ?')
    const forgetSent = db.prepare('DELETE FROM text_sent WHERE seq = ?')
    const forgetOpt = db.prepare('DELETE FROM text_opt_words WHERE seq = ?')
    return {
      handlers: {
        'sms.received': ({ seq, at, facts, body }) => {
          const number = body?.from ?? null
          text.run({ seq, at, number, party: facts.party, incoming: 1 })
          if (facts.party === 'guest') guest.run({ seq, at, number })
        },
        'sms.sent': ({ seq, at, facts, body }) => {
          text.run({ seq, at, number: body?.to ?? null, party: facts.party, incoming: 0 })
          if (body && facts.messageSid !== null) sent.run(facts.messageSid, seq)
        },
        'sms.undelivered': ({ facts }) => void markLost.run(facts.messageSid),
        'sms.ignored': ({ seq, at, facts, body }) => {
          // Older builds recorded texts over the budget, which cost nothing.
          if (facts.party === 'guest' && facts.reason !== 'budget')
            guest.run({ seq, at, number: body?.from ?? null })
          if (!body || (facts.reason !== 'opt_out' && facts.reason !== 'opt_in')) return
          opt.run(seq, body.from, facts.reason === 'opt_out' ? 1 : 0)
        },
        'sms.delayed': ({ facts }) => void delay.run(facts.kind, facts.deliveryId),
        'delivery.requested': ({ seq, at, facts: { deliveryId, channel } }) => {
          if (channel === 'sms') request.run({ seq, at, deliveryId })
        },
        'delivery.succeeded': ({ at, facts: { deliveryId, channel, providerId } }) => {
          end.run(deliveryId)
          if (channel === 'sms' && providerId !== null) outcome.run({ at, ok: 1, kind: null })
        },
        'delivery.failed': ({ at, facts: { deliveryId, channel, kind, final } }) => {
          if (final) end.run(deliveryId)
          else wait.run(kind, deliveryId)
          if (channel !== 'sms') return
          if (OUTAGES.has(kind)) outcome.run({ at, ok: 0, kind })
          if (kind === 'refused') outcome.run({ at, ok: 1, kind: null })
        },
        'delivery.unknown': ({ facts }) => void end.run(facts.deliveryId),
        'sms.status.reported': ({ facts: { messageSid, status, errorCode } }) =>
          void report.run({ messageSid, status, rank: RANK[status] ?? 0, errorCode: errorCode ?? null }),
        erased: ({ facts }) => {
          for (const seq of facts.seqs) {
            forgetNumber.run(seq)
            forgetGuest.run(seq)
            forgetSent.run(seq)
            forgetOpt.run(seq)
          }
        },
      },
    }
  },
})

export function createTextQueries(views: Database) {
  const guestsSince = views
    .prepare<[string, number], string | null>('SELECT number FROM text_guests WHERE at >= ? AND seq > ?')
    .pluck()
  const sentSince = views.prepare<[string, number], { count: number }>(
    'SELECT count(*) AS count FROM texts WHERE incoming = 0 AND at >= ? AND seq > ?',
  )
  const ofNumber = views
    .prepare<[string, number], number>(
      "SELECT seq FROM texts WHERE number = ? AND party = 'guest' ORDER BY seq DESC LIMIT ?",
    )
    .pluck()
  const lastOpt = views.prepare<[string], { out: number }>(
    'SELECT out FROM text_opt_words WHERE number = ? ORDER BY seq DESC LIMIT 1',
  )
  const wasDelayed = views
    .prepare<[string], number>('SELECT delayed FROM text_waiting WHERE deliveryId = ?')
    .pluck()
  const delayed = views.prepare<[], DelayedTexts & { isDelayed: number }>(
    `SELECT count(*) AS count, min(requestedAt) AS since, max(delayed) AS isDelayed,
       (SELECT kind FROM text_waiting WHERE delayed = 1 ORDER BY requestedSeq LIMIT 1) AS kind
     FROM text_waiting`,
  )
  const outcome = views.prepare<[], TelephonyOutcome>('SELECT at, ok, kind FROM text_outcome')
  const status = views.prepare<[string], { status: string; errorCode: number | null }>(
    'SELECT status, errorCode FROM text_statuses WHERE messageSid = ?',
  )
  const lost = views.prepare<[], LostTextRow>(
    `SELECT messageSid, min(seq) AS sentSeq, status, errorCode FROM text_statuses JOIN text_sent USING (messageSid)
     WHERE status IN ('undelivered', 'failed') AND messageSid NOT IN (SELECT messageSid FROM text_lost)
     GROUP BY messageSid ORDER BY sentSeq`,
  )
  return {
    /** The number of each guest text recorded since `at` and after `afterSeq`; null if erased. */
    guestNumbersSince: (at: string, afterSeq: number) => guestsSince.all(at, afterSeq),
    /** Texts sent to any party since `at` and after `afterSeq`. */
    sentSince: (at: string, afterSeq: number) => sentSince.get(at, afterSeq)?.count ?? 0,
    /** The last texts from and to a guest's number, oldest first. */
    guestWordSeqs: (number: string, limit: number) => ofNumber.all(number, limit).reverse(),
    /** Whether the number opted out of texts. */
    isOptedOut: (number: string) => lastOpt.get(number)?.out === 1,
    /** Whether `sms.delayed` was recorded for a text that still waits. */
    wasDelayed: (deliveryId: string) => wasDelayed.get(deliveryId) === 1,
    /** The waiting texts, if the owner was informed of a delay; else null. */
    delayed(): DelayedTexts | null {
      const row = delayed.get()
      return row?.isDelayed === 1 ? { count: row.count, since: row.since, kind: row.kind } : null
    },
    /** Undefined before the first text. */
    lastOutcome: () => outcome.get(),
    /** The most advanced status that the provider has reported. */
    status: (messageSid: string) => status.get(messageSid),
    /** Texts that the provider accepted but did not deliver, without an `sms.undelivered` yet. */
    lost: () => lost.all(),
  }
}

export type TextQueries = ReturnType<typeof createTextQueries>
