import fc from 'fast-check'
import type { TimelineEvent } from '../../../src/http/contract/timeline.ts'

/** A timeline event with defaults. */
export function event(seq: number, type: string, more: Partial<TimelineEvent> = {}): TimelineEvent {
  return {
    seq,
    id: `e${seq}`,
    type,
    at: new Date(Date.UTC(2026, 0, 1, 12, 0, seq)).toISOString(),
    channel: 'chat',
    actor: 'owner',
    conversationId: 'c1',
    spanId: null,
    turnId: null,
    internal: false,
    payload: {},
    ...more,
  }
}

const kinds = [
  { type: 'chat.message.received', internal: false },
  { type: 'chat.reply.sent', internal: false },
  { type: 'turn.started', internal: true },
  { type: 'turn.completed', internal: true },
  { type: 'tool.called', internal: true },
  { type: 'memory.recalled', internal: true },
  { type: 'memory.stored', internal: true },
  { type: 'note.created', internal: false },
  { type: 'span.opened', internal: false },
  { type: 'span.closed', internal: false },
  { type: 'turn.failed', internal: false },
  { type: 'conversation.ended', internal: false },
  { type: 'proposal.made', internal: false },
  { type: 'proposal.confirmed', internal: false },
  { type: 'proposal.declined', internal: false },
  { type: 'proposal.completed', internal: false },
  { type: 'erased', internal: false },
] as const

/** Timelines of interleaved spans and turns, with erasures. Seqs are gapless from 1. */
export const timelines: fc.Arbitrary<readonly TimelineEvent[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom(...kinds),
      span: fc.option(fc.integer({ min: 1, max: 4 }), { nil: null }),
      turn: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
      erases: fc.integer({ min: 1, max: 60 }),
    }),
    { maxLength: 60 },
  )
  .map((generated) =>
    generated.map(({ kind, span, turn, erases }, index) =>
      event(index + 1, kind.type, {
        internal: kind.internal,
        spanId: span === null ? null : `s${span}`,
        turnId: turn === null ? null : `t${turn}`,
        payload: payloadOf(kind.type, erases, index),
      }),
    ),
  )

function payloadOf(type: string, number: number, index: number): TimelineEvent['payload'] {
  if (type === 'erased') return { seqs: [number] }
  if (type.startsWith('proposal.')) return { proposalId: `p${number % 3}`, text: `words ${index}` }
  return { text: `words ${index}` }
}
