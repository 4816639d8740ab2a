import type { NewEvent } from '../../ledger/event.ts'

const WORDS =
  'the plan for tomorrow is to call Maria about the garden and buy bread milk tea then write the report before noon ' +
  'because the train leaves at six and nobody should forget the blue umbrella that was left near the old harbour'
const words = WORDS.split(' ')

/** Deterministic, so that each run measures the same ledger (mulberry32, public domain). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const usage = { inputTokens: 900, outputTokens: 60, cachedTokens: 500 }
const model = { provider: 'builtin', model: 'builtin' }

/**
 * Turns as the service records them, ten events a span, each with some 300 bytes of payload. Up to the event
 * `chainedThrough`, spans overlap like the links of a chain: each opens before the one before it has closed.
 */
export function* timelineEvents(count: number, chainedThrough = 0): Generator<NewEvent> {
  const random = createRandom(7)
  const text = (length: number) =>
    Array.from({ length }, () => words[Math.floor(random() * words.length)]).join(' ')
  let made = 0
  let pending: NewEvent[] = []
  for (let span = 0; made < count; span += 1) {
    const conversationId = `conversation-${Math.floor(span / 100)}`
    const at = { conversationId, spanId: `span-${span}`, turnId: `turn-${span}` }
    const events: NewEvent[] = [
      ...(span % 100 === 0
        ? [
            {
              type: 'conversation.started',
              actor: 'owner',
              channel: 'chat',
              facts: {},
              conversationId,
            } as const,
          ]
        : []),
      { type: 'span.opened', actor: 'service', channel: 'chat', facts: { kind: 'interaction' }, ...at },
      {
        type: 'chat.message.received',
        actor: 'owner',
        channel: 'chat',
        facts: {},
        body: { text: text(40) },
        ...at,
      },
      {
        type: 'turn.started',
        actor: 'delegate',
        channel: 'chat',
        facts: { trigger: 'message', party: 'owner', model, adaptationIds: ['persona'], signalIds: [] },
        ...at,
      },
      {
        type: 'memory.recalled',
        actor: 'delegate',
        channel: 'inner',
        facts: { ids: ['m1', 'm2', 'm3'], turnSeqs: [], late: false, injectedTokens: 120, durationMs: 3 },
        ...at,
      },
      {
        type: 'tool.called',
        actor: 'delegate',
        channel: 'inner',
        facts: { callId: `call-${span}`, tool: 'create_note', round: 1, idempotent: true },
        body: { arguments: JSON.stringify({ title: text(4), content: text(30) }) },
        ...at,
      },
      {
        type: 'tool.returned',
        actor: 'service',
        channel: 'inner',
        facts: {
          callId: `call-${span}`,
          tool: 'create_note',
          outcome: 'ok',
          durationMs: 2,
          refs: [{ kind: 'note', id: `note-${span}` }],
        },
        body: { result: text(20) },
        ...at,
      },
      {
        type: 'chat.reply.sent',
        actor: 'delegate',
        channel: 'chat',
        facts: {},
        body: { text: text(50) },
        ...at,
      },
      {
        type: 'turn.completed',
        actor: 'delegate',
        channel: 'chat',
        facts: { model, usage, contextTokens: 900, responseId: null, rounds: 2, durationMs: 800 },
        ...at,
      },
      {
        type: 'context.usage.recorded',
        actor: 'service',
        channel: 'inner',
        facts: { ...usage, compactThresholdTokens: 100_000 },
        ...at,
      },
      { type: 'span.closed', actor: 'service', channel: 'chat', facts: { reason: 'idle' }, ...at },
    ]
    const cut = made < chainedThrough ? 5 : events.length
    const now = [...pending, ...events.slice(0, cut)]
    pending = events.slice(cut)
    for (const event of now) {
      if (made === count) return
      made += 1
      yield event
    }
  }
}
