import type { AnyEvent } from '../../ledger/reader.ts'
import { oneLine, shorten } from '../lib/shorten.ts'

/** What the owner calls an event's content. */
export const KINDS = [
  'message',
  'reply',
  'memory',
  'note',
  'timer',
  'task',
  'adaptation',
  'import',
  'summary',
  'step',
  'other',
] as const
export type Kind = (typeof KINDS)[number]

const MESSAGES = new Set(['chat.message.received', 'sms.received', 'sms.ignored', 'call.utterance.heard'])
const REPLIES = new Set([
  'chat.reply.sent',
  'chat.reply.stopped',
  'delivery.requested',
  'sms.sent',
  'sms.failed',
  'sms.undelivered',
  'call.reply.spoken',
  'reply.redacted',
])
const STEPS = new Set(['tool.called', 'tool.returned', 'turn.items.kept'])
/** They cover everything before them, in other words or in opaque form. */
const SUMMARIES = new Set(['context.compaction.succeeded', 'context.capsule.written', 'turn.items.kept'])
const THINGS = new Set(['note', 'timer', 'task', 'adaptation', 'proposal'])

/**
 * How an erasure treats an event that derives from erased words:
 *
 * - `said` (by the owner or a guest) stays.
 * - `summary` goes.
 * - `memory` goes with its source.
 * - `thing` goes only with an earlier fact of its own family.
 * - `reply` loses the words it quotes.
 * - `step` goes if it quotes them.
 */
export type Role = 'said' | 'summary' | 'memory' | 'thing' | 'reply' | 'step'

export function roleOf(event: AnyEvent): Role {
  const type = typeOf(event)
  if (MESSAGES.has(type)) return 'said'
  if (SUMMARIES.has(type)) return 'summary'
  // Candidates go with what they were found in.
  if (type === 'memory.stored' || type === 'import.reading.progressed') return 'memory'
  if (REPLIES.has(type)) return 'reply'
  return THINGS.has(familyOf(event)) ? 'thing' : 'step'
}

/** The part of an event's type before the dot. */
export function familyOf(event: AnyEvent): string {
  return typeOf(event).split('.', 1)[0] ?? ''
}

export function kindOf(event: AnyEvent): Kind {
  const type = typeOf(event)
  if (MESSAGES.has(type)) return 'message'
  if (REPLIES.has(type)) return 'reply'
  if (STEPS.has(type)) return 'step'
  if (type === 'import.reading.progressed') return 'step'
  const family = familyOf(event)
  return family === 'context' ? 'summary' : (KINDS.find((kind) => kind === family) ?? 'other')
}

function typeOf(event: AnyEvent): string {
  return event.type === 'unknown' ? event.originalType : event.type
}

/** Counts per kind, in the order of `KINDS`. */
export function countKinds(events: readonly AnyEvent[]): { kind: Kind; count: number }[] {
  const counts = new Map<Kind, number>()
  for (const event of events) counts.set(kindOf(event), (counts.get(kindOf(event)) ?? 0) + 1)
  return KINDS.flatMap((kind) => {
    const count = counts.get(kind)
    return count === undefined ? [] : [{ kind, count }]
  })
}

const EXCERPT_CHARS = 160
/** Kinds that nobody wrote: they are counted but not shown. */
const UNSHOWN = new Set<Kind>(['summary', 'step', 'other'])
export const isUnshown = (kind: Kind): boolean => UNSHOWN.has(kind)

/** A short excerpt for recognition; null for kinds that are only counted. */
export function excerptOf(event: AnyEvent): string | null {
  if (event.type === 'unknown' || !event.body || UNSHOWN.has(kindOf(event))) return null
  const body: Readonly<Record<string, unknown>> = event.body
  const words = [body.title, body.text, body.content].find(
    (value): value is string => typeof value === 'string' && value.trim() !== '',
  )
  if (words === undefined) return null
  return shorten(oneLine(words.slice(0, EXCERPT_CHARS * 2)), EXCERPT_CHARS)
}
