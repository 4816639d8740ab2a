import type { Database } from 'better-sqlite3'
import type { AnyEvent, LedgerReader } from '../ledger/reader.ts'
import { createRedactionQuery } from './erasures.ts'
import { type TimelineEvent, toRedactedEvent, toTimelineEvent } from './timeline-event.ts'
import {
  countEvents,
  createRunQueries,
  type Run,
  type RunQueries,
  type Scope,
  seqsOf,
} from './timeline-runs.ts'

export type TimelineSpan = {
  readonly id: string
  readonly kind: string | null
  readonly conversationId: string | null
  readonly startSeq: number
  readonly endSeq: number
  readonly startedAt: string
  readonly endedAt: string | null
  readonly reason: string | null
  readonly eventCount: number
}

export type TimelinePage = {
  readonly events: readonly TimelineEvent[]
  readonly spans: readonly TimelineSpan[]
  readonly nextCursor: string | null
  readonly hasMore: boolean
  readonly expandedEvents: number
}

/**
 * The end of a page, and the head when the first page of the series was read. Without `asOfSeq`, a span that
 * continues after the first page would seem to be on a newer page already.
 */
export type PageCursor = { readonly beforeSeq: number; readonly asOfSeq: number }

function encodeCursor(cursor: PageCursor): string {
  return `${cursor.beforeSeq}.${cursor.asOfSeq}`
}

/** Parses a cursor or a bare seq, which starts a new series. Null if it is neither. */
export function decodeCursor(text: string): PageCursor | null {
  const match = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(text)
  if (!match) return null
  const beforeSeq = Number(match[1])
  return { beforeSeq, asOfSeq: match[2] === undefined ? beforeSeq - 1 : Number(match[2]) }
}

export type PageQuery = {
  readonly limit: number
  /** Null for the newest page. */
  readonly cursor: PageCursor | null
  /** Null for all conversations. */
  readonly conversationId: string | null
}

export type TimelineQueries = ReturnType<typeof createTimelineQueries>

/** Queries over the timeline. The views give the order, the ledger the content. */
export function createTimelineQueries(views: Database, ledger: LedgerReader) {
  const runs = createRunQueries(views)
  const redactionOf = createRedactionQuery(views)
  const conversationStart = views.prepare<[string], { startSeq: number }>(
    'SELECT startSeq FROM timeline_conversations WHERE conversationId = ?',
  )
  const spansByStart = views.prepare<[string], TimelineSpan>(
    `SELECT spanId AS id, kind, conversationId, startSeq, startedAt, endedAt, reason,
      (SELECT lastSeq FROM timeline_runs WHERE spanStart = startSeq ORDER BY firstSeq DESC LIMIT 1) AS endSeq,
      (SELECT sum(lastSeq - firstSeq + 1) FROM timeline_runs WHERE spanStart = startSeq) AS eventCount
     FROM timeline_spans WHERE startSeq IN (SELECT value FROM json_each(?)) ORDER BY startSeq`,
  )
  const newest = views.prepare<[], { seq: number }>(
    'SELECT lastSeq AS seq FROM timeline_runs ORDER BY firstSeq DESC LIMIT 1',
  )
  const startOfSpan = views.prepare<[string], { startSeq: number }>(
    'SELECT startSeq FROM timeline_spans WHERE spanId = ?',
  )

  function spanSeqs(spanId: string): number[] {
    const start = startOfSpan.get(spanId)
    return start ? seqsOf(runs.ofSpan(null, start.startSeq, Number.MAX_SAFE_INTEGER)) : []
  }

  /** Events, with a redacted copy in place of an erased or hidden reply. */
  function shownEvents(seqs: readonly number[], options: { readonly whole?: boolean } = {}): TimelineEvent[] {
    return ledger
      .readSeqs(seqs)
      .map((event) => (event.erased ? redacted(event) : null) ?? toTimelineEvent(event, options))
  }

  function redacted(reply: AnyEvent): TimelineEvent | null {
    const [copy] = ledger.readSeqs([redactionOf(reply.seq) ?? 0])
    return copy?.type === 'reply.redacted' && copy.body ? toRedactedEvent(reply, copy.body.text) : null
  }

  /** Starts at the views' head: the ledger may be ahead of them. */
  function firstCursor(): PageCursor {
    const asOfSeq = newest.get()?.seq ?? 0
    return { beforeSeq: asOfSeq + 1, asOfSeq }
  }

  return {
    spanSeqs,
    /**
     * The newest `limit` events before the cursor, and the older events of the spans that this cuts
     * (`expandedEvents`). Events of other spans in between are not included. A span that a page shows whole
     * is left out of older pages.
     */
    page({ limit, cursor, conversationId }: PageQuery): TimelinePage {
      const scope: Scope =
        conversationId === null
          ? null
          : { conversationStart: conversationStart.get(conversationId)?.startSeq ?? -1 }
      const { beforeSeq, asOfSeq } = cursor ?? firstCursor()
      const isNew = createIsNew(runs, scope, beforeSeq, asOfSeq)

      const page = runs.before(scope, beforeSeq, limit, isNew)
      const lowestSeq = page.at(-1)?.firstSeq ?? 0
      const pageSpans = new Set(page.map((run) => run.spanStart).filter((start) => start > 0))
      const expanded = [...pageSpans]
        .filter((start) => start < lowestSeq)
        .flatMap((start) => runs.ofSpan(scope, start, lowestSeq))
        .sort((a, b) => a.firstSeq - b.firstSeq)
      const [older] = runs.before(scope, lowestSeq, 1, (chunk) =>
        isNew(chunk.filter((run) => !pageSpans.has(run.spanStart))),
      )
      return {
        // `page` is newest first, and all of `expanded` is older.
        events: shownEvents(seqsOf([...expanded, ...page.reverse()])),
        spans: spansByStart.all(JSON.stringify([...pageSpans])),
        nextCursor: older ? encodeCursor({ beforeSeq: lowestSeq, asOfSeq }) : null,
        hasMore: older !== undefined,
        expandedEvents: countEvents(expanded),
      }
    },
    /** A span with all its events whole; undefined if it does not exist. */
    span(
      spanId: string,
    ): { readonly span: TimelineSpan; readonly events: readonly TimelineEvent[] } | undefined {
      const seqs = spanSeqs(spanId)
      const [span] = spansByStart.all(JSON.stringify(seqs.slice(0, 1)))
      return span && { span, events: shownEvents(seqs, { whole: true }) }
    },
  }
}

/** Filters out runs whose span a newer page has shown: it has an event from `beforeSeq` to `asOfSeq`. */
function createIsNew(
  runs: RunQueries,
  scope: Scope,
  beforeSeq: number,
  asOfSeq: number,
): (chunk: readonly Run[]) => readonly Run[] {
  const known = new Map<number, boolean>([[0, false]])
  return (chunk) => {
    if (asOfSeq < beforeSeq) return chunk
    const starts = new Set(chunk.map(({ spanStart }) => spanStart).filter((start) => !known.has(start)))
    const shown = new Set(runs.spansBetween(scope, [...starts], beforeSeq, asOfSeq))
    for (const start of starts) known.set(start, shown.has(start))
    return chunk.filter(({ spanStart }) => !known.get(spanStart))
  }
}
