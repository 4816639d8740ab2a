import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'
import { msg } from '../design/msg.ts'

export type Role = 'owner' | 'guest' | 'delegate'

/** How the timeline shows an event. */
export type EventClass =
  /** Words that someone said or wrote. */
  | { readonly kind: 'message'; readonly role: Role }
  /** A failed turn. */
  | { readonly kind: 'failure' }
  /** Something that needs the owner's confirmation. */
  | { readonly kind: 'proposal' }
  /** The end of a conversation. */
  | { readonly kind: 'boundary' }
  /** Shapes the timeline, but is not shown itself. */
  | { readonly kind: 'structure' }
  /** The delegate's own work and other details, shown folded. */
  | { readonly kind: 'internal' }
  /** Everything else, shown as one line. */
  | { readonly kind: 'notice' }

const structure = new Set([
  'span.opened',
  'span.closed',
  'conversation.started',
  'erased',
  'erasure.started',
  'reply.redacted',
  'proposal.confirmed',
  'proposal.declined',
  'proposal.completed',
  'timer.done',
])
/** Not marked as internal by the service, but folded all the same. */
const quiet = new Set([
  'settings.changed',
  'owner.signed-in',
  'owner.signed-out',
  'owner.session.revoked',
  'adaptations.reloaded',
])
const delegateWords = new Set([
  'chat.reply.sent',
  'chat.reply.stopped',
  'sms.sent',
  'sms.failed',
  'sms.undelivered',
  'call.reply.spoken',
])
const partyWords = new Set(['sms.received', 'sms.ignored', 'call.utterance.heard'])

/** A sign-in from a browser that the service did not know. */
export function isNewDevice({ type, payload }: TimelineEvent): boolean {
  return type === 'owner.signed-in' && payload.newDevice === true
}

/** The end of a session in which somebody tried to guess a factor. */
export function isGuessing({ type, payload }: TimelineEvent): boolean {
  return type === 'owner.session.revoked' && payload.by === 'guessing'
}

/** Never shows an event that the service marked as internal as someone's words. */
export function classify(event: TimelineEvent): EventClass {
  const { type, payload } = event
  if (structure.has(type)) return { kind: 'structure' }
  // What nobody asked for is paid silently. The page of operations sums it up.
  if (type.startsWith('spend.') && event.spanId === null) return { kind: 'structure' }
  // Only a failure is news. The page of operations has the rest.
  if (type.startsWith('backup.') && event.internal) return { kind: 'structure' }
  // A large erasure is recorded in several events. Show only the first.
  if (type.startsWith('erasure.') && Number(payload.part ?? 0) > 0) return { kind: 'structure' }
  // The failure of the turn asks for more.
  if (type === 'allowance.reached' && event.turnId !== null && Number(payload.level) >= 100)
    return { kind: 'internal' }
  if (event.internal || (quiet.has(type) && !isNewDevice(event) && !isGuessing(event)))
    return { kind: 'internal' }
  if (type === 'chat.message.received') return { kind: 'message', role: 'owner' }
  if (delegateWords.has(type)) return { kind: 'message', role: 'delegate' }
  if (partyWords.has(type)) return { kind: 'message', role: payload.party === 'owner' ? 'owner' : 'guest' }
  if (type === 'turn.failed') return { kind: 'failure' }
  if (type === 'proposal.made') return { kind: 'proposal' }
  return { kind: type === 'conversation.ended' ? 'boundary' : 'notice' }
}

export function isErased(event: TimelineEvent): boolean {
  return event.payload.erased === true
}

/** True for what was said of a reply before its turn failed. */
export function isIncomplete({ type, payload }: TimelineEvent): boolean {
  return type === 'chat.reply.stopped' && payload.reason === 'failed'
}

/** True for a reply from which some words were erased. */
export function isRedacted(event: TimelineEvent): boolean {
  return event.payload.redacted === true
}

/** The excerpt of a body over 4 KiB, and the size of the whole body. */
type Cut = { readonly excerpt: string; readonly bytes: number }

function asCut(value: unknown): Cut | null {
  if (typeof value !== 'object' || value === null) return null
  const excerpt: unknown = Reflect.get(value, 'excerpt')
  const bytes: unknown = Reflect.get(value, 'bytes')
  return typeof excerpt === 'string' && typeof bytes === 'number' ? { excerpt, bytes } : null
}

/** The event's excerpt if its body was truncated, else null. */
export function cutOf(event: TimelineEvent): Cut | null {
  const whole = asCut(event.payload)
  if (whole) return whole
  for (const value of Object.values(event.payload)) {
    const cut = asCut(value)
    if (cut) return cut
  }
  return null
}

/** The text of a field, truncated or whole; empty if there is none. */
export function wordsOf(event: TimelineEvent, field = 'text'): string {
  const value = event.payload[field]
  if (typeof value === 'string') return value
  return asCut(value)?.excerpt ?? asCut(event.payload)?.excerpt ?? ''
}

/** The text of a due reminder, which older events do not carry. */
export function reminderText(event: TimelineEvent): string {
  const words = isErased(event) ? '' : wordsOf(event)
  return words === '' ? msg`A reminder is due` : msg`Reminder: ${words}`
}

/** The page of the event's subject; null if there is none or it no longer exists. */
export function linkOf(event: TimelineEvent): string | null {
  const { type, payload } = event
  const { noteId, timerId } = payload
  if (type === 'price.missing') return '/settings#money'
  if (type === 'allowance.reached' || type === 'backup.failed') return '/operations'
  if (isNewDevice(event)) return '/settings#sessions'
  if (/^owner\.(?:factor|recovery-code)\./.test(type)) return '/settings#sign-in'
  if (typeof noteId === 'string' && type !== 'note.deleted') return `/notes/${encodeURIComponent(noteId)}`
  if (typeof timerId === 'string') return `/timers#${encodeURIComponent(timerId)}`
  return null
}

/** A field of the payload that holds text; empty for any other. */
export function textField(event: TimelineEvent, field: string): string {
  const value = event.payload[field]
  return typeof value === 'string' ? value : ''
}

/** A field of the payload that holds a number; null for any other. */
export function countField(event: TimelineEvent, field: string): number | null {
  const value = event.payload[field]
  return typeof value === 'number' ? value : null
}
