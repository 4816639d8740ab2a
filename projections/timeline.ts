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
  version: 2,
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
    const spans = foldSpans(db)
    const insertConversation = db.prepare('INSERT INTO timeline_conversations VALUES (?, ?)')
    const conversations = startsOf(
      db,
      'SELECT startSeq FROM timeline_conversations WHERE conversationId = ?',
      ({ conversationId, seq }) => void insertConversation.run(conversationId, seq),
    )
    return {
      every(event) {
        const { spanId, conversationId } = event
        const spanStart = spanId === null ? 0 : spans.startOf(spanId, event)
        const conversationStart = conversationId === null ? 0 : conversations.startOf(conversationId, event)
        runs.add(event, spanStart, conversationStart)
      },
      flush() {
        spans.flush()
        conversations.trim()
        runs.flush()
      },
      discard() {
        spans.discard()
        conversations.discard()
        runs.discard()
      },
      handlers: {
        'span.opened': ({ spanId, facts }) => spans.setKind(spanId, facts.kind),
        'span.closed': ({ spanId, at, facts }) => spans.close(spanId, at, facts.reason),
      },
    }
  },
})

type NewSpan = {
  readonly spanId: string
  readonly startSeq: number
  readonly conversationId: string | null
  readonly startedAt: string
  kind: string | null
  endedAt: string | null
  reason: string | null
}

/** Buffers spans that begin within a batch, so that each is written once. */
function foldSpans(db: Database) {
  const insert = db.prepare('INSERT INTO timeline_spans VALUES (?, ?, ?, ?, ?, ?, ?)')
  const setKind = db.prepare('UPDATE timeline_spans SET kind = ? WHERE spanId = ?')
  const close = db.prepare('UPDATE timeline_spans SET endedAt = ?, reason = ? WHERE spanId = ?')
  const newSpans = new Map<string | null, NewSpan>()
  const starts = startsOf(
    db,
    'SELECT startSeq FROM timeline_spans WHERE spanId = ?',
    ({ seq, conversationId, at }, spanId) => {
      const unknown = { kind: null, endedAt: null, reason: null }
      newSpans.set(spanId, { spanId, startSeq: seq, conversationId, startedAt: at, ...unknown })
    },
  )
  return {
    startOf: starts.startOf,
    setKind(spanId: string | null, kind: string): void {
      const span = newSpans.get(spanId)
      if (span) span.kind = kind
      else setKind.run(kind, spanId)
    },
    close(spanId: string | null, at: string, reason: string): void {
      const span = newSpans.get(spanId)
      if (span) Object.assign(span, { endedAt: at, reason })
      else close.run(at, reason, spanId)
    },
    flush(): void {
      for (const { spanId, startSeq, conversationId, kind, startedAt, endedAt, reason } of newSpans.values())
        insert.run(spanId, startSeq, conversationId, kind, startedAt, endedAt, reason)
      newSpans.clear()
      starts.trim()
    },
    discard(): void {
      newSpans.clear()
      starts.discard()
    },
  }
}

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
  const extend = db.prepare('UPDATE timeline_runs SET lastSeq = ?, lastAt = ? WHERE firstSeq = ?')
  let last: FoldedRun | undefined
  /** The number of events of the batch's conversations, without the last run. */
  const counts = new Map<number, number>()
  /** The last run's `lastSeq` in the table; 0 if the run is not in it. */
  let writtenSeq = 0

  function flush(): void {
    if (!last || last.lastSeq === writtenSeq) return
    const { firstSeq, lastSeq, lastAt, spanStart, conversationStart, turnId, eventsBefore } = last
    if (writtenSeq === 0)
      insert.run(firstSeq, lastSeq, lastAt, spanStart, conversationStart, turnId, eventsBefore)
    else extend.run(lastSeq, lastAt, firstSeq)
    writtenSeq = lastSeq
  }

  function load(): FoldedRun | undefined {
    const found = newest.get()
    writtenSeq = found?.lastSeq ?? 0
    return found
  }

  return {
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
      last = undefined
      writtenSeq = 0
    },
  }
}

const REMEMBERED_STARTS = 10_000

/** Finds and caches the first seq of a group, which never changes. */
function startsOf(db: Database, sql: string, begin: (first: AnyEvent, id: string) => void) {
  const select = db.prepare<[string], { startSeq: number }>(sql)
  const remembered = new Map<string, number>()

  function find(id: string, event: AnyEvent): number {
    const known = select.get(id)?.startSeq
    if (known === undefined) begin(event, id)
    remembered.set(id, known ?? event.seq)
    return known ?? event.seq
  }

  return {
    startOf: (id: string, event: AnyEvent): number => remembered.get(id) ?? find(id, event),
    /** Call it between batches only: within one, new starts may exist in memory only. */
    trim(): void {
      if (remembered.size > REMEMBERED_STARTS) remembered.clear()
    },
    discard: () => remembered.clear(),
  }
}
