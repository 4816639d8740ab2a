import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

/**
 * The order of the timeline, without its words: for each event, the seq at which its span and its conversation
 * began (its own seq, or 0, where it has none). The words stay in the ledger, so erasing them there is enough.
 */
export const timelineProjection = defineProjection({
  name: 'timeline',
  version: 1,
  tables: ['timeline', 'timeline_spans', 'timeline_conversations'],
  schema: `
    CREATE TABLE timeline (seq INTEGER PRIMARY KEY, spanStart INTEGER NOT NULL, conversationStart INTEGER NOT NULL) STRICT;
    CREATE INDEX timeline_by_span ON timeline (spanStart, seq);
    CREATE INDEX timeline_by_conversation ON timeline (conversationStart, seq);
    CREATE TABLE timeline_spans (
      spanId TEXT PRIMARY KEY, startSeq INTEGER NOT NULL UNIQUE, conversationId TEXT, kind TEXT,
      startedAt TEXT NOT NULL, endedAt TEXT, reason TEXT
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE timeline_conversations (conversationId TEXT PRIMARY KEY, startSeq INTEGER NOT NULL) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const insert = db.prepare('INSERT INTO timeline VALUES (?, ?, ?)')
    const setKind = db.prepare('UPDATE timeline_spans SET kind = ? WHERE spanId = ?')
    const close = db.prepare('UPDATE timeline_spans SET endedAt = ?, reason = ? WHERE spanId = ?')
    const insertSpan = db.prepare(
      'INSERT INTO timeline_spans (spanId, startSeq, conversationId, startedAt) VALUES (?, ?, ?, ?)',
    )
    const insertConversation = db.prepare('INSERT INTO timeline_conversations VALUES (?, ?)')
    const spans = startsOf(db, 'SELECT startSeq FROM timeline_spans WHERE spanId = ?')
    const conversations = startsOf(db, 'SELECT startSeq FROM timeline_conversations WHERE conversationId = ?')
    return {
      every(event) {
        const { seq, spanId, conversationId, at } = event
        const spanStart =
          spanId === null
            ? seq
            : spans.startOf(spanId, seq, () => insertSpan.run(spanId, seq, conversationId, at))
        const conversationStart =
          conversationId === null
            ? 0
            : conversations.startOf(conversationId, seq, () => insertConversation.run(conversationId, seq))
        insert.run(seq, spanStart, conversationStart)
      },
      discard() {
        spans.discard()
        conversations.discard()
      },
      handlers: {
        'span.opened': (event) => void setKind.run(event.facts.kind, event.spanId),
        'span.closed': (event) => void close.run(event.at, event.facts.reason, event.spanId),
      },
    }
  },
})

const REMEMBERED_STARTS = 10_000

/** Where each group began; remembered, since the start of a group never changes once it is there. */
function startsOf(db: Database, sql: string) {
  const select = db.prepare<[string], { startSeq: number }>(sql)
  const remembered = new Map<string, number>()
  return {
    startOf(id: string, seq: number, begin: () => void): number {
      const known = remembered.get(id) ?? select.get(id)?.startSeq
      if (known === undefined) begin()
      const start = known ?? seq
      if (remembered.size >= REMEMBERED_STARTS) remembered.clear()
      remembered.set(id, start)
      return start
    },
    discard: () => remembered.clear(),
  }
}
