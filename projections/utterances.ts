import type { Database } from 'better-sqlite3'
import type { Envelope } from '../ledger/event.ts'
import { defineProjection } from './projection.ts'
import type { Speaker } from './recall-entries.ts'
import { type Said, saidHandlers } from './said.ts'

export type UtteranceRow = {
  readonly seq: number
  readonly speaker: Speaker
  readonly conversationId: string | null
  readonly turnId: string | null
}

/** A failed extraction that no later success covers. */
export type ExtractionFailure = {
  readonly fromSeq: number
  readonly toSeq: number
  readonly kind: string
  readonly attempt: number
  readonly final: number
  readonly at: string
  readonly retryAt: string | null
}

/**
 * What the owner and the delegate said on any channel, and which of the owner's words extraction has not read
 * yet. Guests are excluded, so nothing is learned from them.
 */
export const utterancesProjection = defineProjection({
  name: 'utterances',
  version: 6,
  tables: ['utterances', 'utterance_guest_calls', 'extraction_failures'],
  schema: `
    CREATE TABLE utterances (seq INTEGER PRIMARY KEY, speaker TEXT NOT NULL, conversationId TEXT, turnId TEXT,
      answered INTEGER NOT NULL, unread INTEGER NOT NULL) STRICT;
    CREATE INDEX utterances_by_conversation ON utterances (conversationId, seq);
    CREATE INDEX utterances_unread ON utterances (seq) WHERE unread > 0;
    CREATE INDEX utterances_unanswered ON utterances (seq) WHERE answered = 0;
    CREATE TABLE utterance_guest_calls (callSid TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;
    CREATE TABLE extraction_failures (fromSeq INTEGER PRIMARY KEY, toSeq INTEGER NOT NULL, kind TEXT NOT NULL,
      attempt INTEGER NOT NULL, final INTEGER NOT NULL, at TEXT NOT NULL, retryAt TEXT) STRICT;`,
  fold(db) {
    const insert = db.prepare('INSERT OR IGNORE INTO utterances VALUES (?, ?, ?, ?, ?, ?)')
    const answerTurn = db.prepare('UPDATE utterances SET answered = 1 WHERE answered = 0 AND turnId = ?')
    const answerConversation = db.prepare(
      'UPDATE utterances SET answered = 1 WHERE answered = 0 AND conversationId IS ? AND (turnId IS NULL OR ?)',
    )
    const answerThrough = db.prepare('UPDATE utterances SET answered = 1 WHERE answered = 0 AND seq <= ?')
    const read = db.prepare('UPDATE utterances SET unread = 0, answered = 1 WHERE seq = ?')
    const unreadAt = db.prepare<[number], number>('SELECT unread FROM utterances WHERE seq = ?').pluck()
    // Not 1 again: the reactor must see that this is another reading.
    const readAgain = db.prepare("UPDATE utterances SET unread = 2 WHERE seq = ? AND speaker = 'owner'")
    const remove = db.prepare('DELETE FROM utterances WHERE seq = ?')
    const fail = db.prepare(`INSERT OR REPLACE INTO extraction_failures
      VALUES (@fromSeq, @toSeq, @kind, @attempt, @final, @at, @retryAt)`)
    const clearFailures = db.prepare('DELETE FROM extraction_failures WHERE toSeq <= ?')

    const said = saidHandlers(db, 'utterance_guest_calls', (speaker, event) => {
      const { seq, conversationId, turnId } = event
      if (speaker === 'owner') insert.run(seq, speaker, conversationId, turnId, 0, unreadIn(event))
      if (speaker === 'owner' || isOutcome(event)) return
      insert.run(seq, speaker, conversationId, turnId, 1, 0)
      if (turnId === null) answerConversation.run(conversationId, 0)
      else answerTurn.run(turnId)
    })
    /** What a message replaces is not read any more. The same words are read once. */
    function unreadIn({ facts }: Said): number {
      const replaces = 'replaces' in facts ? facts.replaces : undefined
      if (!replaces) return 1
      const unread = replaces.sameWords ? (unreadAt.get(replaces.seq) ?? 1) : 1
      read.run(replaces.seq)
      return unread
    }
    const ended = ({ turnId }: Pick<Envelope, 'turnId'>): void => {
      if (turnId !== null) answerTurn.run(turnId)
    }
    const markRead = (seqs: readonly number[]): void => {
      for (const seq of seqs) read.run(seq)
    }
    return {
      handlers: {
        ...said,
        'turn.completed': ended,
        'turn.failed': ended,
        'call.ended': ({ conversationId }) => void answerConversation.run(conversationId, 0),
        'conversation.ended': ({ conversationId }) => void answerConversation.run(conversationId, 1),
        'memory.checkpoint.created': ({ facts }) => void answerThrough.run(facts.toSeq),
        'memory.extraction.completed': ({ facts }) => {
          markRead(facts.utteranceSeqs)
          clearFailures.run(facts.toSeq)
        },
        'memory.extraction.failed': ({ at, facts }) => {
          const { utteranceSeqs, final, ...rest } = facts
          fail.run({ ...rest, at, final: final ? 1 : 0 })
          if (final) markRead(utteranceSeqs)
        },
        'memory.deleted': ({ facts }) => markRead(facts.sourceSeqs),
        'memory.sources.barred': ({ facts }) => markRead(facts.sourceSeqs),
        'memory.sources.kept': ({ facts }) => {
          for (const seq of facts.sourceSeqs) readAgain.run(seq)
        },
        erased: ({ facts }) => {
          for (const seq of facts.seqs) remove.run(seq)
        },
      },
    }
  },
})

/** Whether it delivers a task's outcome: the coding assistant's text is not an utterance. */
function isOutcome({ turnId, facts }: Said): boolean {
  return turnId === null && 'deliveryId' in facts && facts.deliveryId !== undefined
}

export function createUtteranceQueries(views: Database) {
  const columns = 'seq, speaker, conversationId, turnId'
  const unread = views.prepare<[number, number], UtteranceRow & { answered: number; unread: number }>(
    `SELECT ${columns}, answered, unread FROM utterances WHERE unread > 0 AND seq > ? ORDER BY seq LIMIT ?`,
  )
  const unreadCount = views.prepare<[], { count: number }>(
    'SELECT count(*) AS count FROM utterances WHERE unread > 0',
  )
  const exceeds = views.prepare<[number], { found: number }>(
    'SELECT 1 AS found FROM utterances WHERE unread > 0 LIMIT 1 OFFSET ?',
  )
  const before = views.prepare<[string | null, number, number], UtteranceRow>(
    `SELECT ${columns} FROM utterances WHERE conversationId IS ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
  )
  const lastOfOwner = views
    .prepare<[number], number>("SELECT seq FROM utterances WHERE speaker = 'owner' ORDER BY seq DESC LIMIT ?")
    .pluck()
  const unanswered = views.prepare<[], { found: number }>(
    'SELECT 1 AS found FROM utterances WHERE answered = 0 LIMIT 1',
  )
  const failure = views.prepare<[], ExtractionFailure>(
    'SELECT * FROM extraction_failures ORDER BY fromSeq DESC LIMIT 1',
  )
  const failureOver = views.prepare<[number, number], ExtractionFailure>(
    `SELECT * FROM extraction_failures WHERE fromSeq <= ? AND toSeq >= ? AND final = 0
     ORDER BY fromSeq DESC LIMIT 1`,
  )
  const bySeq = views.prepare<[number], UtteranceRow>(`SELECT ${columns} FROM utterances WHERE seq = ?`)
  return {
    /** The owner's next unread utterances after `afterSeq`, in order, up to the first unanswered one. */
    readable(limit: number, afterSeq = 0): (UtteranceRow & { readonly unread: number })[] {
      const rows = unread.all(afterSeq, limit)
      const end = rows.findIndex((row) => row.answered === 0)
      return end < 0 ? rows : rows.slice(0, end)
    },
    unreadSeqs: (limit: number) => unread.all(0, limit).map(({ seq }) => seq),
    unreadCount: () => unreadCount.get()?.count ?? 0,
    /** Whether more than `count` utterances are unread, without counting them all. */
    isBehindBy: (count: number) => exceeds.get(count) !== undefined,
    /** The utterances before `seq` in the conversation, oldest first. */
    before: (conversationId: string | null, seq: number, limit: number) =>
      before.all(conversationId, seq, limit).reverse(),
    /** The owner's last utterances in any conversation, newest first. */
    lastOfOwner: (limit: number) => lastOfOwner.all(limit),
    hasUnanswered: () => unanswered.get() !== undefined,
    lastFailure: () => failure.get(),
    /** The pending failure of a window that contains this utterance. */
    failureOver: (seq: number) => failureOver.get(seq, seq),
    bySeq: (seq: number) => bySeq.get(seq),
  }
}

export type UtteranceQueries = ReturnType<typeof createUtteranceQueries>
