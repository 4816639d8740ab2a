import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type OpenSpanRow = {
  spanId: string
  conversationId: string | null
  kind: 'interaction' | 'call' | 'activation' | 'delivery'
  openedSeq: number
  openedAt: string
  /** Time of its last event, from the timeline. */
  lastAt: string
  turns: number
}

/** Open spans: a message joins the current interaction, and an idle interaction is closed. */
export const openSpansProjection = defineProjection({
  name: 'open_spans',
  version: 2,
  tables: ['open_spans'],
  schema: `
    CREATE TABLE open_spans (
      spanId TEXT PRIMARY KEY, conversationId TEXT, kind TEXT NOT NULL, openedSeq INTEGER NOT NULL,
      openedAt TEXT NOT NULL, turns INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const open = db.prepare('INSERT OR REPLACE INTO open_spans VALUES (?, ?, ?, ?, ?, 0)')
    const countTurn = db.prepare('UPDATE open_spans SET turns = turns + 1 WHERE spanId = ?')
    const close = db.prepare('DELETE FROM open_spans WHERE spanId = ?')
    return {
      handlers: {
        'span.opened': ({ spanId, conversationId, facts, seq, at }) => {
          if (spanId !== null) open.run(spanId, conversationId, facts.kind, seq, at)
        },
        'turn.started': (event) => void countTurn.run(event.spanId),
        'span.closed': (event) => void close.run(event.spanId),
      },
    }
  },
})

export function createOpenSpanQueries(views: Database) {
  const all = views.prepare<[], OpenSpanRow>(
    `SELECT *, (SELECT lastAt FROM timeline_spans JOIN timeline_runs ON spanStart = startSeq
       WHERE timeline_spans.spanId = open_spans.spanId ORDER BY firstSeq DESC LIMIT 1) AS lastAt
     FROM open_spans ORDER BY openedSeq`,
  )
  return {
    all: () => all.all(),
    interaction: (conversationId: string) =>
      all.all().find((span) => span.kind === 'interaction' && span.conversationId === conversationId),
  }
}
