import type { Database } from 'better-sqlite3'
import type { AnyEvent } from '../ledger/reader.ts'
import { defineProjection } from './projection.ts'

/**
 * The order of the timeline, without content: one row per run of consecutive events of the same span,
 * conversation and turn. An append to a running turn extends its run, which changes one page and no index.
 * `spanStart` and `conversationStart` are the first seqs of the span and the conversation, 0 for none;
 * `eventsBefore` counts the earlier events of the conversation.
 */
export const timelineProjection = defineProjection({
  name: 'timeline',
  version: 3,
  tables: ['timeline_runs', 'timeline_spans', 'timeline_conversations'],
  schema: `
    DROP TABLE IF EXISTS timeline;
    CREATE TABLE timeline_runs (
      firstSeq INTEGER PRIMARY KEY, lastSeq INTEGER NOT NULL, lastAt TEXT NOT NULL, spanStart INTEGER NOT NULL,
      conversationStart INTEGER NOT NULL, turnId TEXT, eventsBefore INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX timeline_by_span ON timeline_runs (spanStart, firstSeq);
    CREATE INDEX timeline_by_conversation ON timeline_runs (conversationStart, firstSeq);
    CREATE INDEX timeline_by_turn ON timeline_runs (turnId, firstSeq) WHERE turnId IS NOT NULL;
    CREATE TABLE timeline_spans (
      spanId TEXT PRIMARY KEY, startSeq INTEGER NOT NULL UNIQUE, conversationId TEXT, kind TEXT,
      startedAt TEXT NOT NULL, endedAt TEXT, reason TEXT
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE timeline_conversations (conversationId TEXT PRIMARY KEY, startSeq INTEGER NOT NULL) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const runs = foldRuns(db)
    const startOfSpan = db
      .prepare<[string], number>('SELECT startSeq FROM timeline_spans WHERE spanId = ?')
      .pluck()
    const startOfConversation = db
      .prepare<[string], number>('SELECT startSeq FROM timeline_conversations WHERE conversationId = ?')
      .pluck()
    const beginSpan = db.prepare(
      'INSERT INTO timeline_spans (spanId, startSeq, conversationId, startedAt) VALUES (?, ?, ?, ?)',
    )
    const beginConversation = db.prepare('INSERT INTO timeline_conversations VALUES (?, ?)')
    const setKind = db.prepare('UPDATE timeline_spans SET kind = ? WHERE spanId = ?')
    const close = db.prepare('UPDATE timeline_spans SET endedAt = ?, reason = ? WHERE spanId = ?')

    function spanStart({ spanId, seq, conversationId, at }: AnyEvent): number {
      if (spanId === null) return 0
      const known = startOfSpan.get(spanId)
      if (known === undefined) beginSpan.run(spanId, seq, conversationId, at)
      return known ?? seq
    }

    function conversationStart({ conversationId, seq }: AnyEvent): number {
      if (conversationId === null) return 0
      const known = startOfConversation.get(conversationId)
      if (known === undefined) beginConversation.run(conversationId, seq)
      return known ?? seq
    }

    return {
      every(event) {
        if (isImport(event)) return
        if (!runs.extend(event)) runs.add(event, spanStart(event), conversationStart(event))
      },
      flush: runs.flush,
      discard: runs.discard,
      handlers: {
        'span.opened': ({ spanId, facts }) => void setKind.run(facts.kind, spanId),
        'span.closed': ({ spanId, at, facts }) => void close.run(at, facts.reason, spanId),
      },
    }
  },
})

/** Imports are not part of the timeline. */
export const isImport = (event: AnyEvent): boolean =>
  (event.type === 'unknown' ? event.originalType : event.type).startsWith('import.')

type FoldedRun = {
  readonly firstSeq: number
  lastSeq: number
  lastAt: string
  readonly spanStart: number
  readonly conversationStart: number
  readonly turnId: string | null
  readonly eventsBefore: number
}

/** Keeps the last run in memory, and writes it when it ends or the batch ends. */
function foldRuns(db: Database) {
  const newest = db.prepare<[], FoldedRun>('SELECT * FROM timeline_runs ORDER BY firstSeq DESC LIMIT 1')
  const countOf = db
    .prepare<[number], number>(
      `SELECT eventsBefore + lastSeq - firstSeq + 1 FROM timeline_runs WHERE conversationStart = ?
       ORDER BY firstSeq DESC LIMIT 1`,
    )
    .pluck()
  const insert = db.prepare('INSERT INTO timeline_runs VALUES (?, ?, ?, ?, ?, ?, ?)')
  const update = db.prepare('UPDATE timeline_runs SET lastSeq = ?, lastAt = ? WHERE firstSeq = ?')
  let last: FoldedRun | undefined
  /** The last event of `last`, if it was folded since the last rollback. */
  let previous: AnyEvent | undefined
  /** The number of events of the batch's conversations, without the last run. */
  const counts = new Map<number, number>()
  /** The last run's `lastSeq` in the table; 0 if the run is not in it. */
  let writtenSeq = 0

  function flush(): void {
    if (!last || last.lastSeq === writtenSeq) return
    const { firstSeq, lastSeq, lastAt, spanStart, conversationStart, turnId, eventsBefore } = last
    if (writtenSeq === 0)
      insert.run(firstSeq, lastSeq, lastAt, spanStart, conversationStart, turnId, eventsBefore)
    else update.run(lastSeq, lastAt, firstSeq)
    writtenSeq = lastSeq
  }

  function load(): FoldedRun | undefined {
    const found = newest.get()
    writtenSeq = found?.lastSeq ?? 0
    return found
  }

  return {
    /** Extends the last run if the event is in the same place as the previous one. Returns whether it is. */
    extend(event: AnyEvent): boolean {
      const isSamePlace =
        previous?.seq === event.seq - 1 &&
        previous.spanId === event.spanId &&
        previous.conversationId === event.conversationId &&
        previous.turnId === event.turnId
      previous = event
      if (!last || !isSamePlace) return false
      last.lastSeq = event.seq
      last.lastAt = event.at
      return true
    },
    add({ seq, at, turnId }: AnyEvent, spanStart: number, conversationStart: number): void {
      last ??= load()
      const continues =
        last?.lastSeq === seq - 1 &&
        last.spanStart === spanStart &&
        last.conversationStart === conversationStart &&
        last.turnId === turnId
      if (last && continues) {
        last.lastSeq = seq
        last.lastAt = at
        return
      }
      flush()
      if (last) counts.set(last.conversationStart, last.eventsBefore + last.lastSeq - last.firstSeq + 1)
      const eventsBefore = counts.get(conversationStart) ?? countOf.get(conversationStart) ?? 0
      last = { firstSeq: seq, lastSeq: seq, lastAt: at, spanStart, conversationStart, turnId, eventsBefore }
      writtenSeq = 0
    },
    flush(): void {
      flush()
      counts.clear()
    },
    /** The next event reloads the last run. */
    discard(): void {
      counts.clear()
      previous = undefined
      last = undefined
      writtenSeq = 0
    },
  }
}
