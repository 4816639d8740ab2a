import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type OpenSpanRow = {
  spanId: string
  conversationId: string | null
  kind: 'interaction' | 'call' | 'activation' | 'delivery'
  openedSeq: number
  openedAt: string
  lastAt: string
  turns: number
}

/** The spans that are open now, so that a message joins the running interaction and an idle one is closed. */
export const openSpansProjection = defineProjection({
  name: 'open_spans',
  version: 1,
  tables: ['open_spans'],
  schema: `
    CREATE TABLE open_spans (
      spanId TEXT PRIMARY KEY, conversationId TEXT, kind TEXT NOT NULL, openedSeq INTEGER NOT NULL,
      openedAt TEXT NOT NULL, lastAt TEXT NOT NULL, turns INTEGER NOT NULL
    ) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const open = db.prepare('INSERT OR REPLACE INTO open_spans VALUES (?, ?, ?, ?, ?, ?, 0)')
    const touch = db.prepare('UPDATE open_spans SET lastAt = ?, turns = turns + ? WHERE spanId = ?')
    const close = db.prepare('DELETE FROM open_spans WHERE spanId = ?')
    return {
      every(event) {
        if (event.spanId !== null) touch.run(event.at, event.type === 'turn.started' ? 1 : 0, event.spanId)
      },
      handlers: {
        'span.opened': ({ spanId, conversationId, facts, seq, at }) => {
          if (spanId !== null) open.run(spanId, conversationId, facts.kind, seq, at, at)
        },
        'span.closed': (event) => void close.run(event.spanId),
      },
    }
  },
})

/** Queries over the open spans, on a connection that reads the views. */
export function createOpenSpanQueries(views: Database) {
  const all = views.prepare<[], OpenSpanRow>('SELECT * FROM open_spans ORDER BY openedSeq')
  return {
    all: () => all.all(),
    interaction: (conversationId: string) =>
      all.all().find((span) => span.kind === 'interaction' && span.conversationId === conversationId),
  }
}
