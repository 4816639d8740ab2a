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
  /** Shown folded, never as something that was said. */
  readonly internal: boolean
  readonly payload: Readonly<Record<string, unknown>>
}

/** In a page, a larger body becomes `{excerpt, bytes}`; the span route returns it whole. */
export const MAX_PAGE_BODY_BYTES = 4096
const EXCERPT_CHARS = 500

/** Converts an event for pages and sockets, without opaque blobs. `whole` lifts the size limit. */
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

/** An event with `text`, its redacted copy, in place of its body. */
export function toRedactedEvent(event: AnyEvent, text: string): TimelineEvent {
  const shown = toTimelineEvent(event)
  const { erased: _, ...payload } = shown.payload
  return { ...shown, payload: { ...payload, text, redacted: true } }
}

/** A failed turn is internal only if it was an activation, which nobody asked for. */
const isInternal = ({ type, channel }: LedgerEvent): boolean =>
  catalogue[type].internal || (BY_CHANNEL.has(type) && channel === 'inner')
const BY_CHANNEL: ReadonlySet<string> = new Set(['turn.failed'] satisfies EventType[])

/** Types whose stored JSON can be sent unchanged, with the JSON that follows the envelope. */
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
 * The JSON of `toTimelineEvent`, built from the stored JSON without parsing, which would dominate the cost of
 * a page. Null if that is impossible: an old version, a large body, blobs, or a row that cannot be JSON.
 */
export function timelineEventJson(text: StoredText): string | null {
  const plain = plainTypes.get(text.type)
  if (plain?.version !== text.version) return null
  const { facts, body } = text
  if (!isObject(facts) || (body !== null && (body.length > SMALL_BODY_CHARS || !isObject(body)))) return null
  const payload = text.hasBody === 0 ? facts : mergedJson(facts, body ?? '{"erased":true}')
  return `{${text.envelope}${plain.words}${payload}}`
}

/** Whether it looks like an object that this service serialised; imported JSON may have extra spaces. */
function isObject(json: string): boolean {
  return json === '{}' || (json.startsWith('{"') && json.endsWith('}'))
}

/** Merges two JSON objects without common names. */
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
  // A UTF-16 unit takes at most 6 bytes in JSON (\u0001), so most bodies need no exact count.
  if (whole || chars * 6 + 200 <= MAX_PAGE_BODY_BYTES) return visible
  const bytes = Buffer.byteLength(JSON.stringify(visible))
  if (bytes <= MAX_PAGE_BODY_BYTES) return visible
  return { ...nameOf(visible), excerpt: excerptOf(visible), bytes }
}

/** Keeps a title next to the excerpt, because the timeline shows it. */
function nameOf({ title }: Record<string, unknown>): { readonly title?: string } {
  return typeof title === 'string' && title.length <= EXCERPT_CHARS ? { title } : {}
}

/** The beginning of the body's longest text, not cut within a character. */
function excerptOf(visible: Record<string, unknown>): string {
  const texts = Object.values(visible).filter((value) => typeof value === 'string')
  const longest = texts.reduce((longest, text) => (text.length > longest.length ? text : longest), '')
  return longest.slice(0, EXCERPT_CHARS).toWellFormed()
}
