import type { LedgerEvent } from '../ledger/event.ts'
import { catalogue } from '../ledger/events/catalogue.ts'
import type { AnyEvent } from '../ledger/reader.ts'
import { wholeCharacters } from './whole-characters.ts'

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
  catalogue[type].internal || (type === 'turn.failed' && channel === 'inner')

function visibleBody(body: object, opaque: readonly string[], whole: boolean): Record<string, unknown> {
  const visible = Object.fromEntries(Object.entries(body).filter(([name]) => !opaque.includes(name)))
  if (whole) return visible
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
  return wholeCharacters(longest.slice(0, EXCERPT_CHARS))
}
