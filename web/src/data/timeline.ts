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

/** One fact, as the service shows it. */
export type TimelineEvent = {
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly at: string
  readonly channel: Channel | null
  readonly conversationId: string | null
  readonly spanId: string | null
  readonly turnId: string | null
  /** Part of the delegate's inner life: never somebody's words. */
  readonly internal: boolean
  readonly payload: JsonObject
}

export type TimelinePage = {
  /** Ascending by `seq`; no span is cut. */
  readonly events: readonly TimelineEvent[]
  /**
   * From here on nothing is missing between the events of this page and of the newer ones. What is older was added to
   * leave no span cut, and may be from long ago: facts are still told of an exchange after it is over. Null where the
   * page has no event of its own: it says nothing of where it begins.
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
  /** Words of it, of which those that matched stand between U+0002 and U+0003. */
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

/** Throws UnexpectedAnswer where it is no timeline event. */
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

/** Throws UnexpectedAnswer where it is no timeline page. */
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

/** The page before `cursor`, or the newest. `limit` is 1..5000; the service's own default without. */
export async function fetchPage(
  http: Http,
  query: { readonly before?: string; readonly limit?: number; readonly signal?: AbortSignal },
): Promise<TimelinePage> {
  const { signal, ...rest } = query
  return parsePage(await http('GET', '/api/timeline', { query: rest, ...(signal ? { signal } : {}) }))
}

/** A span whole, its long bodies included. */
export async function fetchSpanEvents(http: Http, spanId: string): Promise<readonly TimelineEvent[]> {
  const answer = asObject(await http('GET', `/api/timeline/spans/${encodeURIComponent(spanId)}`), 'span')
  const holder = Array.isArray(answer.events) ? answer : asObject(answer.span, 'span')
  return arrayField(holder, 'events', parseEvent)
}

export type NamedPeriod = 'today' | 'last_7_days' | 'last_30_days' | 'this_year'

/** To a channel and a period: a named one, or days (`YYYY-MM-DD`, both included) in the owner's time zone. */
export type SearchNarrowing = {
  readonly channel?: Channel | null
  readonly period?: NamedPeriod | null
  readonly from?: string | null
  readonly to?: string | null
}

export type FoundPage = {
  readonly hits: readonly SearchHit[]
  /** The days that the period was taken for: what follows is asked for with them. */
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
