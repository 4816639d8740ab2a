import type { Http } from './http.ts'
import {
  arrayField,
  asObject,
  booleanField,
  isObject,
  type JsonObject,
  numberField,
  optionalString,
  stringField,
} from './json.ts'

export type Channel = 'chat' | 'voice' | 'sms' | 'inner' | 'system'

/** An event, as the service presents it. */
export type TimelineEvent = {
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly at: string
  readonly channel: Channel | null
  readonly conversationId: string | null
  readonly spanId: string | null
  readonly turnId: string | null
  /** True for the delegate's own work. Never someone's words. */
  readonly internal: boolean
  readonly payload: JsonObject
}

export type TimelinePage = {
  /** Ascending by `seq`. Never splits a span. */
  readonly events: readonly TimelineEvent[]
  /**
   * From this `seq` on, the page and the newer ones have no gaps. Older events were added only to complete
   * spans, and may be far apart. Null if the page consists only of such events.
   */
  readonly wholeFromSeq: number | null
  readonly nextCursor: string | null
  readonly hasMore: boolean
}

export type SearchHit = {
  readonly seq: number
  readonly at: string
  readonly type: string
  readonly channel: Channel | null
  readonly spanId: string | null
  /** An excerpt, with each match between U+0002 and U+0003. */
  readonly snippet: string
}

const channels: readonly string[] = ['chat', 'voice', 'sms', 'inner', 'system']

function isChannel(value: string): value is Channel {
  return channels.includes(value)
}

function channelField(object: JsonObject): Channel | null {
  const value = optionalString(object, 'channel')
  return value !== null && isChannel(value) ? value : null
}

/** Throws UnexpectedAnswer if malformed. */
export function parseEvent(value: unknown): TimelineEvent {
  const object = asObject(value, 'event')
  return {
    seq: numberField(object, 'seq'),
    id: stringField(object, 'id'),
    type: stringField(object, 'type'),
    at: stringField(object, 'at'),
    channel: channelField(object),
    conversationId: optionalString(object, 'conversationId'),
    spanId: optionalString(object, 'spanId'),
    turnId: optionalString(object, 'turnId'),
    internal: booleanField(object, 'internal'),
    payload: isObject(object.payload) ? object.payload : {},
  }
}

/** Throws UnexpectedAnswer if malformed. */
export function parsePage(value: unknown): TimelinePage {
  const object = asObject(value, 'timeline page')
  const events = arrayField(object, 'events', parseEvent)
  const hasMore = booleanField(object, 'hasMore')
  const firstOwn = events[numberField(object, 'expandedEvents')]
  return {
    events,
    wholeFromSeq: hasMore ? (firstOwn?.seq ?? null) : 0,
    nextCursor: optionalString(object, 'nextCursor'),
    hasMore,
  }
}

function parseHit(value: unknown): SearchHit {
  const object = asObject(value, 'search hit')
  return {
    seq: numberField(object, 'seq'),
    at: stringField(object, 'at'),
    type: stringField(object, 'type'),
    channel: channelField(object),
    spanId: optionalString(object, 'spanId'),
    snippet: optionalString(object, 'marked') ?? stringField(object, 'snippet'),
  }
}

/** The page before the cursor `before`, or the newest one. `limit` is 1..5000. */
export async function fetchPage(
  http: Http,
  query: { readonly before?: string; readonly limit?: number; readonly signal?: AbortSignal },
): Promise<TimelinePage> {
  const { signal, ...rest } = query
  return parsePage(await http('GET', '/api/timeline', { query: rest, ...(signal ? { signal } : {}) }))
}

/** All events of a span, with untruncated bodies. */
export async function fetchSpanEvents(http: Http, spanId: string): Promise<readonly TimelineEvent[]> {
  const answer = asObject(await http('GET', `/api/timeline/spans/${encodeURIComponent(spanId)}`), 'span')
  const holder = Array.isArray(answer.events) ? answer : asObject(answer.span, 'span')
  return arrayField(holder, 'events', parseEvent)
}

export type NamedPeriod = 'today' | 'last_7_days' | 'last_30_days' | 'this_year'

/** Instead of `period`: `from` and `to`, inclusive days (`YYYY-MM-DD`) in the owner's time zone. */
export type SearchNarrowing = {
  readonly channel?: Channel | null
  readonly period?: NamedPeriod | null
  readonly from?: string | null
  readonly to?: string | null
}

export type FoundPage = {
  readonly hits: readonly SearchHit[]
  /** The days that the period was resolved to. Use them to request the next page. */
  readonly from: string | null
  readonly to: string | null
  readonly nextCursor: string | null
}

/** Newest first. */
export async function searchTimeline(
  http: Http,
  query: SearchNarrowing & {
    readonly q: string
    readonly cursor?: string
    readonly limit?: number
    readonly signal?: AbortSignal
  },
): Promise<FoundPage> {
  const { signal, ...rest } = query
  const path = '/api/timeline/search'
  const answer = asObject(await http('GET', path, { query: rest, ...(signal ? { signal } : {}) }), 'search')
  return {
    hits: arrayField(answer, 'hits', parseHit),
    from: optionalString(answer, 'from'),
    to: optionalString(answer, 'to'),
    nextCursor: optionalString(answer, 'nextCursor'),
  }
}
