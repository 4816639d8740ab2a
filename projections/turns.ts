import type { Database } from 'better-sqlite3'
import type { Envelope } from '../ledger/event.ts'
import type { SeqRange } from '../ledger/reader.ts'
import { defineProjection } from './projection.ts'
import { seqsOf } from './timeline-runs.ts'

export type TurnStatus = 'waiting' | 'running' | 'completed' | 'failed' | 'stopped'

export type TurnRow = {
  turnId: string
  conversationId: string | null
  spanId: string | null
  channel: string | null
  party: string
  trigger: 'message' | 'activation' | 'call' | 'sms'
  /** The message or the activation that caused it. */
  causeSeq: number
  status: TurnStatus
  kind: string | null
  receivedAt: string
  startedAt: string | null
  endedAt: string | null
  startedSeq: number | null
  endedSeq: number | null
  /** The reply, or the failure. */
  replySeq: number | null
  inputTokens: number
  outputTokens: number
  cachedTokens: number
  contextTokens: number
  /** The message that took the place of its own; null if none did. */
  replacedBy: number | null
}

/** The envelope of the fact that requests a turn. */
type Asking = Pick<Envelope, 'turnId' | 'conversationId' | 'spanId' | 'channel' | 'seq' | 'at'>

/**
 * Turns from their cause to their outcome. Waiting turns are the attention's queue; turns still running when
 * the process starts were interrupted by a crash.
 */
export const turnsProjection = defineProjection({
  name: 'turns',
  version: 6,
  tables: ['turns'],
  schema: `
    DROP TABLE IF EXISTS turn_events;
    CREATE TABLE turns (
      turnId TEXT PRIMARY KEY, conversationId TEXT, spanId TEXT, channel TEXT, party TEXT NOT NULL, trigger TEXT NOT NULL,
      causeSeq INTEGER NOT NULL, status TEXT NOT NULL, kind TEXT, receivedAt TEXT NOT NULL, startedAt TEXT,
      endedAt TEXT, startedSeq INTEGER, endedSeq INTEGER, replySeq INTEGER,
      inputTokens INTEGER NOT NULL DEFAULT 0, outputTokens INTEGER NOT NULL DEFAULT 0,
      cachedTokens INTEGER NOT NULL DEFAULT 0, contextTokens INTEGER NOT NULL DEFAULT 0,
      replacedBy INTEGER
    ) WITHOUT ROWID, STRICT;
    -- By what changes once: a start would move an entry of an index by the status.
    CREATE INDEX turns_unfinished ON turns (causeSeq) WHERE endedSeq IS NULL;
    CREATE INDEX turns_ended ON turns (endedSeq) WHERE endedSeq IS NOT NULL;
    CREATE INDEX turns_asked ON turns (causeSeq) WHERE party = 'owner' AND trigger <> 'activation';
    CREATE INDEX turns_replaced ON turns (causeSeq) WHERE replacedBy IS NOT NULL;
    CREATE INDEX turns_replacing ON turns (replacedBy) WHERE replacedBy IS NOT NULL;`,
  fold(db) {
    const wait =
      db.prepare(`INSERT OR IGNORE INTO turns (turnId, conversationId, spanId, channel, party, trigger, causeSeq, status, receivedAt)
      VALUES (?, ?, ?, ?, ?, ?, ?, 'waiting', ?)`)
    const start = db.prepare(
      "UPDATE turns SET status = 'running', startedAt = ?, startedSeq = ? WHERE turnId = ?",
    )
    const complete =
      db.prepare(`UPDATE turns SET status = CASE status WHEN 'stopped' THEN status ELSE 'completed' END,
      endedAt = ?, endedSeq = ?, inputTokens = ?, outputTokens = ?,
      cachedTokens = ?, contextTokens = ? WHERE turnId = ?`)
    const fail = db.prepare(`UPDATE turns SET status = @status, kind = @kind, endedAt = @at, endedSeq = @seq,
      replySeq = coalesce(replySeq, @seq) WHERE turnId = @turnId`)
    const reply = db.prepare('UPDATE turns SET replySeq = ? WHERE turnId = ?')
    const stop = db.prepare("UPDATE turns SET status = 'stopped', replySeq = ? WHERE turnId = ?")
    // It is over, even if it never ran or a crash cuts it off.
    const replace = db.prepare(`UPDATE turns SET replacedBy = @seq,
      status = CASE WHEN endedSeq IS NULL THEN 'stopped' ELSE status END,
      endedAt = coalesce(endedAt, @at), endedSeq = coalesce(endedSeq, @seq) WHERE turnId = @turnId`)
    const waiting = (event: Asking, party: string, trigger: TurnRow['trigger']): void => {
      const { turnId, conversationId, spanId, channel, seq, at } = event
      // By position: binding by name costs half as much again.
      if (turnId !== null) wait.run(turnId, conversationId, spanId, channel, party, trigger, seq, at)
    }
    return {
      handlers: {
        'chat.message.received': (event) => {
          const { seq, at, facts } = event
          waiting(event, 'owner', 'message')
          if (facts.replaces) replace.run({ seq, at, turnId: facts.replaces.turnId })
        },
        'sms.received': (event) => waiting(event, event.facts.party, 'sms'),
        'turn.started': (event) => {
          const { at, seq, turnId, facts } = event
          // A turn without a message, such as an activation, begins here.
          if (start.run(at, seq, turnId).changes > 0) return
          waiting(event, facts.party, facts.trigger)
          start.run(at, seq, turnId)
        },
        'chat.reply.sent': (event) => void reply.run(event.seq, event.turnId),
        // A reply by text is the delivery that the turn requested.
        'delivery.requested': ({ key, seq, turnId }) => {
          if (turnId !== null && key === `reply:${turnId}`) reply.run(seq, turnId)
        },
        'chat.reply.stopped': ({ seq, turnId, facts }) => {
          // The outcome of a failed turn is its failure.
          if (facts.reason !== 'failed') stop.run(seq, turnId)
        },
        'turn.completed': ({ at, seq, turnId, facts }) => {
          const { inputTokens, outputTokens, cachedTokens } = facts.usage
          complete.run(at, seq, inputTokens, outputTokens, cachedTokens, facts.contextTokens, turnId)
        },
        'turn.failed': ({ at, seq, turnId, facts }) =>
          void fail.run({
            at,
            seq,
            turnId,
            kind: facts.kind,
            status: facts.kind === 'stopped' ? 'stopped' : 'failed',
          }),
      },
    }
  },
})

export function createTurnQueries(views: Database) {
  const byId = views.prepare<[string], TurnRow>('SELECT * FROM turns WHERE turnId = ?')
  const unfinished = views.prepare<[], TurnRow>(
    "SELECT * FROM turns WHERE endedSeq IS NULL AND status IN ('waiting', 'running') ORDER BY causeSeq",
  )
  const lastEnded = views.prepare<[], Pick<TurnRow, 'status' | 'kind'>>(
    `SELECT status, kind FROM turns WHERE endedSeq IS NOT NULL AND trigger <> 'call' ORDER BY endedSeq DESC LIMIT 1`,
  )
  const lastAsked = views.prepare<[], TurnRow>(
    `SELECT * FROM turns WHERE party = 'owner' AND trigger <> 'activation' ORDER BY causeSeq DESC LIMIT 1`,
  )
  const replaced = views.prepare<[], string>('SELECT turnId FROM turns WHERE replacedBy IS NOT NULL').pluck()
  const replacedWith = views
    .prepare<[number], number>('SELECT replacedBy FROM turns WHERE causeSeq = ? AND replacedBy IS NOT NULL')
    .pluck()
  const replacedAt = views
    .prepare<[number], number>('SELECT causeSeq FROM turns WHERE replacedBy = ?')
    .pluck()
  const runs = views.prepare<[string], SeqRange>(
    'SELECT firstSeq, lastSeq FROM timeline_runs WHERE turnId = ? ORDER BY firstSeq',
  )
  return {
    byId: (turnId: string) => byId.get(turnId),
    /** The outcome of the last ended turn of the chat model. Calls have models of their own. */
    lastEnded: () => lastEnded.get(),
    /** Waiting and running turns, in the order of their causes. */
    unfinished: () => unfinished.all(),
    /** The last turn that the owner asked for, on any channel. */
    lastAsked: () => lastAsked.get(),
    /** Turns whose message another one took the place of. */
    replaced: (): ReadonlySet<string> => new Set(replaced.all()),
    /** The message that took the place of this one; null if none did. */
    replacedWith: (messageSeq: number) => replacedWith.get(messageSeq) ?? null,
    /** The message that this one took the place of; null if it took none. */
    replacedAt: (messageSeq: number) => replacedAt.get(messageSeq) ?? null,
    isReplaced: (turnId: string) => (byId.get(turnId)?.replacedBy ?? null) !== null,
    eventSeqs: (turnId: string) => seqsOf(runs.all(turnId)),
  }
}
