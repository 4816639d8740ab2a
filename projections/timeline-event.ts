import { catalogue } from '../ledger/events/catalogue.ts'
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
  return { ...shared, type: event.type, internal: definition.internal, payload }
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
  return { excerpt: excerptOf(visible), bytes }
}

/** The beginning of the longest text of a body, not cut within a character. */
function excerptOf(visible: Record<string, unknown>): string {
  const texts = Object.values(visible).filter((value) => typeof value === 'string')
  const longest = texts.reduce((longest, text) => (text.length > longest.length ? text : longest), '')
  return longest.slice(0, EXCERPT_CHARS).toWellFormed()
}
