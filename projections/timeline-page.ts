import type { Database } from 'better-sqlite3'
import type { StoredText } from '../ledger/codec.ts'
import type { LedgerReader, SeqRange } from '../ledger/reader.ts'
import { createRedactionQuery } from './erasures.ts'
import { type TimelineEvent, timelineEventJson, toRedactedEvent, toTimelineEvent } from './timeline-event.ts'
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

/** A page as it is sent, and what its sender counts. */
export type RenderedPage = {
  /** The JSON of a `TimelinePage`. */
  readonly json: string
  readonly eventCount: number
  readonly expandedEvents: number
}

/**
 * Where a page ends and when the first page of its series was read. Without the second, a span that goes on
 * after the first page was read would look as if a newer page had shown it.
 */
export type PageCursor = { readonly beforeSeq: number; readonly asOfSeq: number }

function encodeCursor(cursor: PageCursor): string {
  return `${cursor.beforeSeq}.${cursor.asOfSeq}`
}

/** Reads a cursor, or a bare seq (then nothing newer counts as shown). Null when it is neither. */
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

export type TimelineQueries = {
  page(query: PageQuery): RenderedPage
  /** One span with every event whole; undefined where there is none of that id. */
  span(spanId: string): { readonly span: TimelineSpan; readonly events: readonly TimelineEvent[] } | undefined
  spanSeqs(spanId: string): number[]
}

/** Queries over the timeline: the order from the views, the words from the ledger. */
export function createTimelineQueries(views: Database, ledger: LedgerReader): TimelineQueries {
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

  /** What is left of a reply whose words are erased or hidden; null where nothing is. */
  function redacted(seq: number): TimelineEvent | null {
    const [copy] = ledger.readSeqs([redactionOf(seq) ?? 0])
    const [reply] = ledger.readSeqs([seq])
    if (copy?.type !== 'reply.redacted' || !copy.body || !reply) return null
    return toRedactedEvent(reply, copy.body.text)
  }

  /** The events of runs that are in order. */
  function eventsJson(runs: readonly Run[]): string[] {
    return readTexts(ledger, runs).flatMap((text) => {
      const left = text.hasBody === 1 && text.body === null ? redacted(text.seq) : null
      if (left) return [JSON.stringify(left)]
      const json = timelineEventJson(text)
      if (json !== null) return [json]
      return ledger.readSeqs([text.seq]).map((event) => JSON.stringify(toTimelineEvent(event)))
    })
  }

  /** What the views hold now: the ledger may already be ahead of them, and both go on while a page is read. */
  function firstCursor(): PageCursor {
    const asOfSeq = newest.get()?.seq ?? 0
    return { beforeSeq: asOfSeq + 1, asOfSeq }
  }

  return {
    spanSeqs,
    /**
     * The newest `limit` events before the cursor, then, of the spans that this cuts, the older events too
     * (`expandedEvents`): only theirs, so that a few long, interleaved spans do not pull in all that lies
     * between. A span thus shown whole by a page is left out of the older ones.
     */
    page({ limit, cursor, conversationId }) {
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
      const last: Omit<TimelinePage, 'events' | 'spans'> = {
        nextCursor: older ? encodeCursor({ beforeSeq: lowestSeq, asOfSeq }) : null,
        hasMore: older !== undefined,
        expandedEvents: countEvents(expanded),
      }
      const spans = spansByStart.all(JSON.stringify([...pageSpans]))
      // The page itself came in order, the newest first, and all of the other is older.
      const events = eventsJson([...expanded, ...page.reverse()])
      return {
        json: `{"events":[${events.join()}],"spans":${JSON.stringify(spans)},${JSON.stringify(last).slice(1)}`,
        eventCount: events.length,
        expandedEvents: last.expandedEvents,
      }
    },
    span(spanId) {
      const seqs = spanSeqs(spanId)
      const [span] = spansByStart.all(JSON.stringify(seqs.slice(0, 1)))
      if (!span) return undefined
      const events = ledger
        .readSeqs(seqs)
        .map(
          (event) => (event.erased ? redacted(event.seq) : null) ?? toTimelineEvent(event, { whole: true }),
        )
      return { span, events }
    },
  }
}

/**
 * Leaves out the runs whose span a newer page of the same series has shown: those that have an event between the
 * cursor and the first page.
 */
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

/** How much of a range that is read at once may be left out; each range of its own costs as much as some events. */
const MOST_LEFT_OUT = 0.5

function readTexts(ledger: LedgerReader, runs: readonly Run[]): StoredText[] {
  const ranges = joined(runs)
  const first = ranges[0]?.firstSeq
  const last = ranges.at(-1)?.lastSeq
  if (first === undefined || last === undefined) return []
  if (countEvents(runs) < (last - first + 1) * (1 - MOST_LEFT_OUT)) return ledger.textRanges(ranges)
  const texts = ledger.textRanges([{ firstSeq: first, lastSeq: last }])
  if (ranges.length === 1) return texts
  let index = 0
  return texts.filter(({ seq }) => {
    while (seq > (ranges[index]?.lastSeq ?? last)) index += 1
    return seq >= (ranges[index]?.firstSeq ?? 0)
  })
}

/** Where one run ends and the next begins, they are one range. */
function joined(runs: readonly Run[]): SeqRange[] {
  const ranges: { firstSeq: number; lastSeq: number }[] = []
  for (const { firstSeq, lastSeq } of runs) {
    const previous = ranges.at(-1)
    if (previous?.lastSeq === firstSeq - 1) previous.lastSeq = lastSeq
    else ranges.push({ firstSeq, lastSeq })
  }
  return ranges
}
