import type { Database } from 'better-sqlite3'
import type { LedgerReader } from '../ledger/reader.ts'
import { type TimelineEvent, toTimelineEvent } from './timeline-event.ts'

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
  page(query: PageQuery): TimelinePage
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
      max(timeline.seq) AS endSeq, count(*) AS eventCount
     FROM json_each(?) AS start
     JOIN timeline_spans ON startSeq = start.value JOIN timeline ON spanStart = startSeq
     GROUP BY startSeq ORDER BY startSeq`,
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
      const wasShown = createShown(places, scope, beforeSeq, asOfSeq)

      const page = places.before(scope, beforeSeq, limit, (place) => !wasShown(place.spanStart))
      const lowestSeq = page.at(-1)?.seq ?? 0
      const pageSpans = new Set(page.map((place) => place.spanStart))
      const expanded = [...pageSpans]
        .filter((start) => start < lowestSeq)
        .flatMap((start) => places.ofSpan(scope, start, lowestSeq))
        .sort((a, b) => a - b)
      // The page itself came in order, the newest first, and all of the other is older.
      const seqs = [...expanded, ...page.map((place) => place.seq).reverse()]
      const [older] = places.before(
        scope,
        lowestSeq,
        1,
        (place) => !pageSpans.has(place.spanStart) && !wasShown(place.spanStart),
      )
      return {
        events: readEvents(ledger, seqs).map((event) => toTimelineEvent(event)),
        spans: spansByStart.all(JSON.stringify([...pageSpans])),
        nextCursor: older ? encodeCursor({ beforeSeq: lowestSeq, asOfSeq }) : null,
        hasMore: older !== undefined,
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

/** Whether a newer page of the same series has shown a span: it has an event between the cursor and the first page. */
function createShown(
  places: Places,
  scope: readonly number[],
  beforeSeq: number,
  asOfSeq: number,
): (spanStart: number) => boolean {
  const known = new Map<number, boolean>()
  return (spanStart) => {
    if (asOfSeq < beforeSeq) return false
    let shown = known.get(spanStart)
    if (shown === undefined) {
      shown = places.spanHasBetween(scope, spanStart, beforeSeq, asOfSeq)
      known.set(spanStart, shown)
    }
    return shown
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
  const between = views.prepare<number[], { seq: number }>(
    `SELECT seq FROM timeline WHERE ${condition}spanStart = ? AND seq BETWEEN ? AND ? LIMIT 1`,
  )
  return {
    /** Up to `limit` accepted places, newest first. */
    before(
      scope: readonly number[],
      beforeSeq: number,
      limit: number,
      accept: (place: Place) => boolean,
    ): Place[] {
      const accepted: Place[] = []
      let from = beforeSeq
      while (accepted.length < limit) {
        const wanted = Math.max(limit - accepted.length, MIN_CHUNK)
        const chunk = before.all(...scope, from, wanted)
        for (const place of chunk) if (accepted.length < limit && accept(place)) accepted.push(place)
        from = chunk.at(-1)?.seq ?? 0
        if (chunk.length < wanted) break
      }
      return accepted
    },
    ofSpan: (scope: readonly number[], spanStart: number, beforeSeq: number) =>
      ofSpan.all(...scope, spanStart, beforeSeq).map(({ seq }) => seq),
    spanHasBetween: (scope: readonly number[], spanStart: number, fromSeq: number, toSeq: number) =>
      between.get(...scope, spanStart, fromSeq, toSeq) !== undefined,
  }
}

const MIN_CHUNK = 50

/** Reads a sorted list of seqs: in one range where it is gapless, which most pages are. */
function readEvents(ledger: LedgerReader, seqs: readonly number[]) {
  const first = seqs[0]
  const last = seqs.at(-1)
  if (first === undefined || last === undefined) return []
  return last - first + 1 === seqs.length ? ledger.readRange(first, last) : ledger.readSeqs(seqs)
}
