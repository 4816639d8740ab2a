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
  'sms.requested',
  'sms.sent',
  'sms.failed',
  'call.reply.spoken',
])
const STEPS = new Set(['tool.called', 'tool.returned', 'turn.items.kept'])

/** What the owner calls the thing that an event holds words of. */
export function kindOf(event: AnyEvent): Kind {
  const type = event.type === 'unknown' ? event.originalType : event.type
  if (MESSAGES.has(type)) return 'message'
  if (REPLIES.has(type)) return 'reply'
  if (STEPS.has(type)) return 'step'
  const [family] = type.split('.')
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
