import type { StoredText } from '../ledger/codec.ts'
import type { LedgerEvent } from '../ledger/event.ts'
import { catalogue, type EventType } from '../ledger/events/catalogue.ts'
import type { AnyEvent } from '../ledger/reader.ts'

/** An event as the timeline shows it: facts and body merged as `payload`. */
export type TimelineEvent = {
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly at: string
  readonly channel: string | null
  readonly actor: string
  readonly conversationId: string | null
  readonly spanId: string | null
  readonly turnId: string | null
  /** Of the delegate's inner life: shown folded, never as somebody's words. */
  readonly internal: boolean
  readonly payload: Readonly<Record<string, unknown>>
}

/** Bodies over this size are shown as `{excerpt, bytes}` in a page; the span route gives them whole. */
export const MAX_PAGE_BODY_BYTES = 4096
const EXCERPT_CHARS = 500

/** The event as pages and sockets carry it. Opaque blobs never leave; `whole` lifts the limit on size alone. */
export function toTimelineEvent(event: AnyEvent, options: { readonly whole?: boolean } = {}): TimelineEvent {
  const { seq, id, at, channel, actor, conversationId, spanId, turnId } = event
  const shared = { seq, id, at, channel, actor, conversationId, spanId, turnId }
  if (event.type === 'unknown') return { ...shared, type: event.originalType, internal: true, payload: {} }
  const definition = catalogue[event.type]
  const payload: Record<string, unknown> = { ...event.facts }
  if (event.erased) payload.erased = true
  else if (event.body)
    Object.assign(payload, visibleBody(event.body, definition.opaque, options.whole ?? false))
  return { ...shared, type: event.type, internal: isInternal(event), payload }
}

/** An event without its words, with what is left of them in their place. */
export function toRedactedEvent(event: AnyEvent, text: string): TimelineEvent {
  const shown = toTimelineEvent(event)
  const { erased: _, ...payload } = shown.payload
  return { ...shown, payload: { ...payload, text, redacted: true } }
}

/** The failure of an activation answers nobody, unlike that of a turn that somebody asked for. */
const isInternal = ({ type, channel }: LedgerEvent): boolean =>
  catalogue[type].internal || (BY_CHANNEL.has(type) && channel === 'inner')
const BY_CHANNEL: ReadonlySet<string> = new Set(['turn.failed'] satisfies EventType[])

/** Types whose body may be shown as it is, in their current version; of each what follows the envelope. */
const plainTypes = new Map(
  Object.entries(catalogue).flatMap(([type, { version, internal, opaque }]) =>
    opaque.length > 0 || BY_CHANNEL.has(type)
      ? []
      : [[type, { version, words: `,"type":"${type}","internal":${internal},"payload":` }]],
  ),
)

/** A UTF-16 unit takes at most 3 bytes in UTF-8. */
const SMALL_BODY_CHARS = MAX_PAGE_BODY_BYTES / 3

/**
 * The JSON of `toTimelineEvent`, made of the stored JSON without parsing it, which is most of what a page would cost.
 * Null where that is not possible: an old version, a large body, one with blobs, a row that cannot be JSON.
 */
export function timelineEventJson(text: StoredText): string | null {
  const plain = plainTypes.get(text.type)
  if (plain?.version !== text.version) return null
  const { facts, body } = text
  if (!isObject(facts) || (body !== null && (body.length > SMALL_BODY_CHARS || !isObject(body)))) return null
  const payload = text.hasBody === 0 ? facts : mergedJson(facts, body ?? '{"erased":true}')
  return `{${text.envelope}${plain.words}${payload}}`
}

/**
 * Whether it may be a JSON object, as this service writes them: an import keeps the spaces of another program. Whether
 * it is the one that was stored, the chain tells.
 */
function isObject(json: string): boolean {
  return json === '{}' || (json.startsWith('{"') && json.endsWith('}'))
}

/** Two JSON objects that share no name, as one. */
function mergedJson(first: string, second: string): string {
  if (first === '{}') return second
  return second === '{}' ? first : `${first.slice(0, -1)},${second.slice(1)}`
}

function visibleBody(body: object, opaque: readonly string[], whole: boolean): Record<string, unknown> {
  const visible: Record<string, unknown> = {}
  let chars = 0
  for (const [name, value] of Object.entries(body)) {
    if (opaque.includes(name)) continue
    visible[name] = value
    if (typeof value === 'string') chars += value.length
  }
  // A UTF-16 unit takes at most 6 bytes in JSON (as \u0001 does), so most bodies need no counting.
  if (whole || chars * 6 + 200 <= MAX_PAGE_BODY_BYTES) return visible
  const bytes = Buffer.byteLength(JSON.stringify(visible))
  if (bytes <= MAX_PAGE_BODY_BYTES) return visible
  return { ...nameOf(visible), excerpt: excerptOf(visible), bytes }
}

/** What a thing is called stays beside the beginning of its text: that is what the timeline calls it. */
function nameOf({ title }: Record<string, unknown>): { readonly title?: string } {
  return typeof title === 'string' && title.length <= EXCERPT_CHARS ? { title } : {}
}

/** The beginning of the longest text of a body, not cut within a character. */
function excerptOf(visible: Record<string, unknown>): string {
  const texts = Object.values(visible).filter((value) => typeof value === 'string')
  const longest = texts.reduce((longest, text) => (text.length > longest.length ? text : longest), '')
  return longest.slice(0, EXCERPT_CHARS).toWellFormed()
}
