import type { Database } from 'better-sqlite3'
import type { StoredText } from '../ledger/codec.ts'
import type { LedgerReader } from '../ledger/reader.ts'
import { type TimelineEvent, timelineEventJson, toTimelineEvent } from './timeline-event.ts'

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

export function encodeCursor(cursor: PageCursor): string {
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

type Place = { readonly seq: number; readonly spanStart: number }

/** Queries over the timeline: the order from the views, the words from the ledger. */
export function createTimelineQueries(views: Database, ledger: LedgerReader): TimelineQueries {
  const everywhere = placesIn(views, '')
  const inConversation = placesIn(views, 'conversationStart = ? AND ')
  const conversationStart = views.prepare<[string], { startSeq: number }>(
    'SELECT startSeq FROM timeline_conversations WHERE conversationId = ?',
  )
  const spansByStart = views.prepare<[string], TimelineSpan>(
    `SELECT spanId AS id, kind, conversationId, startSeq, startedAt, endedAt, reason,
      (SELECT max(seq) FROM timeline WHERE spanStart = startSeq) AS endSeq,
      (SELECT count(*) FROM timeline WHERE spanStart = startSeq) AS eventCount
     FROM timeline_spans WHERE startSeq IN (SELECT value FROM json_each(?)) ORDER BY startSeq`,
  )
  const newest = views.prepare<[], { seq: number | null }>('SELECT max(seq) AS seq FROM timeline')
  const startOfSpan = views.prepare<[string], { startSeq: number }>(
    'SELECT startSeq FROM timeline_spans WHERE spanId = ?',
  )
  const seqsOfSpan = views.prepare<[number], { seq: number }>(
    'SELECT seq FROM timeline WHERE spanStart = ? ORDER BY seq',
  )

  function spanSeqs(spanId: string): number[] {
    const start = startOfSpan.get(spanId)
    return start ? seqsOfSpan.all(start.startSeq).map(({ seq }) => seq) : []
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
      const scope = conversationId === null ? [] : [conversationStart.get(conversationId)?.startSeq ?? -1]
      const places = conversationId === null ? everywhere : inConversation
      const { beforeSeq, asOfSeq } = cursor ?? firstCursor()
      const isNew = createIsNew(places, scope, beforeSeq, asOfSeq)

      const page = places.before(scope, beforeSeq, limit, isNew)
      const lowestSeq = page.at(-1)?.seq ?? 0
      const pageSpans = new Set(page.map((place) => place.spanStart))
      const expanded = [...pageSpans]
        .filter((start) => start < lowestSeq)
        .flatMap((start) => places.ofSpan(scope, start, lowestSeq))
        .sort((a, b) => a - b)
      // The page itself came in order, the newest first, and all of the other is older.
      const seqs = [...expanded, ...page.map((place) => place.seq).reverse()]
      const [older] = places.before(scope, lowestSeq, 1, (chunk) =>
        isNew(chunk.filter((place) => !pageSpans.has(place.spanStart))),
      )
      const last: Omit<TimelinePage, 'events' | 'spans'> = {
        nextCursor: older ? encodeCursor({ beforeSeq: lowestSeq, asOfSeq }) : null,
        hasMore: older !== undefined,
        expandedEvents: expanded.length,
      }
      const spans = spansByStart.all(JSON.stringify([...pageSpans]))
      const events = eventsJson(ledger, seqs)
      return {
        json: `{"events":[${events.join()}],"spans":${JSON.stringify(spans)},${JSON.stringify(last).slice(1)}`,
        eventCount: events.length,
        expandedEvents: expanded.length,
      }
    },
    span(spanId) {
      const seqs = spanSeqs(spanId)
      const [span] = spansByStart.all(JSON.stringify(seqs.slice(0, 1)))
      if (!span) return undefined
      return { span, events: ledger.readSeqs(seqs).map((event) => toTimelineEvent(event, { whole: true })) }
    },
  }
}

/**
 * Leaves out the places whose span a newer page of the same series has shown: those that have an event between the
 * cursor and the first page.
 */
function createIsNew(
  places: Places,
  scope: readonly number[],
  beforeSeq: number,
  asOfSeq: number,
): (chunk: readonly Place[]) => readonly Place[] {
  const known = new Map<number, boolean>()
  return (chunk) => {
    if (asOfSeq < beforeSeq) return chunk
    const starts = new Set(chunk.map(({ spanStart }) => spanStart).filter((start) => !known.has(start)))
    const shown = new Set(places.spansBetween(scope, [...starts], beforeSeq, asOfSeq))
    for (const start of starts) known.set(start, shown.has(start))
    return chunk.filter(({ spanStart }) => !known.get(spanStart))
  }
}

type Places = ReturnType<typeof placesIn>

/** The statements behind a page, over everything or within one conversation. */
function placesIn(views: Database, condition: string) {
  const before = views.prepare<number[], Place>(
    `SELECT seq, spanStart FROM timeline WHERE ${condition}seq < ? ORDER BY seq DESC LIMIT ?`,
  )
  const ofSpan = views.prepare<number[], { seq: number }>(
    `SELECT seq FROM timeline WHERE ${condition}spanStart = ? AND seq < ?`,
  )
  const between = views.prepare<(string | number)[], { start: number }>(
    `SELECT value AS start FROM json_each(?) WHERE EXISTS (
       SELECT 1 FROM timeline WHERE ${condition}spanStart = value AND seq BETWEEN ? AND ?)`,
  )
  return {
    /** Up to `limit` places that `accept` keeps, newest first. */
    before(
      scope: readonly number[],
      beforeSeq: number,
      limit: number,
      accept: (chunk: readonly Place[]) => readonly Place[],
    ): Place[] {
      const accepted: Place[] = []
      let from = beforeSeq
      while (accepted.length < limit) {
        const wanted = Math.max(limit - accepted.length, MIN_CHUNK)
        const chunk = before.all(...scope, from, wanted)
        accepted.push(...accept(chunk).slice(0, limit - accepted.length))
        from = chunk.at(-1)?.seq ?? 0
        if (chunk.length < wanted) break
      }
      return accepted
    },
    ofSpan: (scope: readonly number[], spanStart: number, beforeSeq: number) =>
      ofSpan.all(...scope, spanStart, beforeSeq).map(({ seq }) => seq),
    /** Those of the spans that have an event from one seq to the other, both included. */
    spansBetween: (
      scope: readonly number[],
      starts: readonly number[],
      fromSeq: number,
      toSeq: number,
    ): number[] => between.all(JSON.stringify(starts), ...scope, fromSeq, toSeq).map(({ start }) => start),
  }
}

const MIN_CHUNK = 50

/** How much of a range that is read at once may be left out; events one by one cost three times as much. */
const MOST_LEFT_OUT = 0.5

/** The events of a sorted list of seqs. */
function eventsJson(ledger: LedgerReader, seqs: readonly number[]): string[] {
  return readTexts(ledger, seqs).flatMap((text) => {
    const json = timelineEventJson(text)
    if (json !== null) return [json]
    return ledger.readSeqs([text.seq]).map((event) => JSON.stringify(toTimelineEvent(event)))
  })
}

function readTexts(ledger: LedgerReader, seqs: readonly number[]): StoredText[] {
  const first = seqs[0]
  const last = seqs.at(-1)
  if (first === undefined || last === undefined) return []
  const places = last - first + 1
  if (places === seqs.length) return ledger.textRange(first, last)
  if (seqs.length < places * (1 - MOST_LEFT_OUT)) return ledger.textSeqs(seqs)
  const wanted = new Set(seqs)
  return ledger.textRange(first, last).filter(({ seq }) => wanted.has(seq))
}
