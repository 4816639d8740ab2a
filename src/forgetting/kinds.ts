import type { AnyEvent } from '../../ledger/reader.ts'

/** What an event's words are to their owner. */
export const KINDS = [
  'message',
  'reply',
  'memory',
  'note',
  'timer',
  'task',
  'adaptation',
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
/** They cover everything before them, in words of their own or in nobody's. */
const SUMMARIES = new Set(['context.compaction.succeeded', 'context.capsule.written', 'turn.items.kept'])
const THINGS = new Set(['note', 'timer', 'task', 'adaptation', 'proposal'])

/**
 * How an erasure treats an event that derives from erased words: what was said by the owner or a guest stays; a summary
 * goes; a memory goes with what it was learned from; a thing goes only with an earlier fact of its own family; a reply
 * loses the words it quotes; a step that quotes them goes.
 */
export type Role = 'said' | 'summary' | 'memory' | 'thing' | 'reply' | 'step'

export function roleOf(event: AnyEvent): Role {
  const type = typeOf(event)
  if (MESSAGES.has(type)) return 'said'
  if (SUMMARIES.has(type)) return 'summary'
  if (type === 'memory.stored') return 'memory'
  if (REPLIES.has(type)) return 'reply'
  return THINGS.has(familyOf(event)) ? 'thing' : 'step'
}

/** The word before the point of an event's type. */
export function familyOf(event: AnyEvent): string {
  return typeOf(event).split('.', 1)[0] ?? ''
}

/** What the owner calls the thing that an event holds words of. */
export function kindOf(event: AnyEvent): Kind {
  const type = typeOf(event)
  if (MESSAGES.has(type)) return 'message'
  if (REPLIES.has(type)) return 'reply'
  if (STEPS.has(type)) return 'step'
  const family = familyOf(event)
  switch (family) {
    case 'memory':
    case 'note':
    case 'timer':
    case 'task':
    case 'adaptation':
      return family
    case 'context':
      return 'summary'
    default:
      return 'other'
  }
}

function typeOf(event: AnyEvent): string {
  return event.type === 'unknown' ? event.originalType : event.type
}

/** How many there are of each kind, in one order. */
export function countKinds(events: readonly AnyEvent[]): { kind: Kind; count: number }[] {
  const counts = new Map<Kind, number>()
  for (const event of events) counts.set(kindOf(event), (counts.get(kindOf(event)) ?? 0) + 1)
  return KINDS.flatMap((kind) => {
    const count = counts.get(kind)
    return count === undefined ? [] : [{ kind, count }]
  })
}

const EXCERPT_CHARS = 160
/** Kinds whose words are nobody's writing: they are counted, not shown. */
const UNSHOWN = new Set<Kind>(['summary', 'step', 'other'])

/** The beginning of an event's words, to be recognised by; null for what is only counted. */
export function excerptOf(event: AnyEvent): string | null {
  if (event.type === 'unknown' || !event.body || UNSHOWN.has(kindOf(event))) return null
  const body: Readonly<Record<string, unknown>> = event.body
  const words = [body.title, body.text, body.content].find(
    (value): value is string => typeof value === 'string' && value.trim() !== '',
  )
  if (words === undefined) return null
  const line = words
    .slice(0, EXCERPT_CHARS * 2)
    .replace(/\s+/g, ' ')
    .trim()
  return line.length <= EXCERPT_CHARS ? line : `${line.slice(0, EXCERPT_CHARS).toWellFormed().trimEnd()}…`
}
