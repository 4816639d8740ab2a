import type { NewEvent } from '../../ledger/event.ts'
import { createRandom } from '../support/random.ts'
import { createText } from './vocabulary.ts'

const usage = { inputTokens: 900, outputTokens: 60, cachedTokens: 500 }
const model = { provider: 'test', model: 'test' }

/**
 * Turns as the service records them: ten events per span, about 300 bytes of payload each. Up to the event
 * `chainedThrough`, each span opens before the previous one closes.
 */
export function* timelineEvents(count: number, chainedThrough = 0): Generator<NewEvent> {
  const text = createText(createRandom(7).next)
  let made = 0
  let unreadSeqs: number[] = []
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
      ...(span % 2 === 0 ? toolUse(span, at, text) : learned(span, unreadSeqs, text)),
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
    if (span % 2 === 1) unreadSeqs = []
    const cut = made < chainedThrough ? 5 : events.length
    const now = [...pending, ...events.slice(0, cut)]
    pending = events.slice(cut)
    for (const event of now) {
      if (made === count) return
      made += 1
      if (event.type === 'chat.message.received') unreadSeqs.push(made)
      yield event
    }
  }
}

type Place = { readonly conversationId: string; readonly spanId: string; readonly turnId: string }

function toolUse(span: number, at: Place, text: (words: number) => string): NewEvent[] {
  const call = { callId: `call-${span}`, tool: 'create_note' }
  return [
    {
      type: 'tool.called',
      actor: 'delegate',
      channel: 'inner',
      facts: { ...call, round: 1, idempotent: true },
      body: { arguments: JSON.stringify({ title: text(4), content: text(30) }) },
      ...at,
    },
    {
      type: 'tool.returned',
      actor: 'service',
      channel: 'inner',
      facts: { ...call, outcome: 'ok', durationMs: 2, refs: [{ kind: 'note', id: `note-${span}` }] },
      body: { result: text(20) },
      ...at,
    },
  ]
}

/** What extraction records after reading messages, one of which states a fact. */
function learned(span: number, utteranceSeqs: number[], text: (words: number) => string): NewEvent[] {
  const [fromSeq = 1, toSeq = fromSeq] = [utteranceSeqs.at(0), utteranceSeqs.at(-1)]
  const inner = { actor: 'service', channel: 'inner' } as const
  const [slot, value] = [text(2), text(3)]
  return [
    {
      type: 'memory.extraction.completed',
      ...inner,
      facts: { fromSeq, toSeq, utteranceSeqs, method: 'rules', candidates: 1, accepted: 1, usage: null },
    },
    {
      type: 'memory.stored',
      ...inner,
      facts: {
        memoryId: `memory-${span}`,
        kind: 'episode',
        sourceSeqs: [toSeq],
        supersedes: null,
        linkedTo: null,
        singleValued: span % 20 === 1,
        eventTime: null,
        validFrom: '2026-01-01T00:00:00.000Z',
        validUntil: null,
        by: 'extraction',
      },
      body: {
        text: `My ${slot} ${text(4)} ${value}`,
        subject: 'owner',
        slot,
        value,
        quote: text(9),
        canonicalKey: `key ${span}`,
        slotKey: `owner ${slot}`,
        statementKey: `owner ${slot} ${value}`,
      },
    },
  ]
}
