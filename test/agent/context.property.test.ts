import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LedgerEvent } from '../../ledger/event.ts'
import { emptyContext, foldContext } from '../../src/agent/context/context.ts'
import { createProvenance } from '../../src/agent/turn/provenance.ts'

/** One step of a turn, turned into an event. */
type Step = {
  readonly turn: number
  readonly what: 'said' | 'called' | 'returned' | 'replied' | 'completed' | 'failed'
}

function eventOf(step: Step, seq: number): LedgerEvent {
  const envelope = {
    seq,
    id: `e${seq}`,
    key: null,
    version: 1,
    at: '2026-01-01T00:00:00.000Z',
    conversationId: 'c',
    spanId: 's',
    turnId: `t${step.turn}`,
    causedBy: null,
    derivedFrom: [],
    channel: 'chat' as const,
    actor: 'owner' as const,
    hash: '',
    erased: false,
  }
  const call = { callId: `call${step.turn}`, tool: 'x' }
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }
  const model = { provider: 'p', model: 'm' }
  switch (step.what) {
    case 'said':
      return { ...envelope, type: 'chat.message.received', facts: {}, body: { text: `said ${seq}` } }
    case 'called':
      return {
        ...envelope,
        type: 'tool.called',
        facts: { ...call, round: 1, idempotent: true },
        body: { arguments: '{}' },
      }
    case 'returned':
      return {
        ...envelope,
        type: 'tool.returned',
        facts: { ...call, outcome: 'ok', durationMs: 0, refs: [] },
        body: { result: '{}' },
      }
    case 'replied':
      return { ...envelope, type: 'chat.reply.sent', facts: {}, body: { text: `replied ${seq}` } }
    case 'completed':
      return {
        ...envelope,
        type: 'turn.completed',
        facts: { model, usage, contextTokens: 0, responseId: null, rounds: 1, durationMs: 0 },
        body: null,
      }
    case 'failed':
      return { ...envelope, type: 'turn.failed', facts: { kind: 'timeout' }, body: { text: 'sorry' } }
  }
}

const steps = fc.array(
  fc.record({
    turn: fc.integer({ min: 0, max: 3 }),
    what: fc.constantFrom('said', 'called', 'returned', 'replied', 'completed', 'failed') as fc.Arbitrary<
      Step['what']
    >,
  }),
  { maxLength: 40 },
)

test('gives the same context for single events and for any batches', () => {
  fc.assert(
    fc.property(steps, fc.array(fc.integer({ min: 1, max: 7 })), (all, sizes) => {
      const events = all.map((step, index) => eventOf(step, index + 1))
      const whole = foldContext(emptyContext(0), events)
      let state = emptyContext(0)
      let from = 0
      for (const size of [...sizes, events.length]) {
        state = foldContext(state, events.slice(from, from + size))
        from += size
      }
      expect([state.items, state.failed]).toEqual([whole.items, whole.failed])
    }),
  )
})

test('excludes a turn until it ends', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const events = all.map((step, index) => eventOf(step, index + 1))
      const { items, failed } = foldContext(emptyContext(0), events)
      const inContext = new Set([...items, ...failed.flat()].flatMap(({ seqs }) => seqs))
      for (const [index, step] of all.entries()) {
        const rest = all.slice(index).filter(({ turn }) => turn === step.turn)
        const end = rest.find(({ what }) => what === 'completed' || what === 'failed')
        if (!end) expect(inContext.has(index + 1)).toBe(false)
      }
    }),
  )
})

test('derives a reply from the texts that it repeats, in any script, and from no others', () => {
  const { sourcesOf } = createProvenance()
  const given = ['My sister is called Ada', 'Wir treffen uns in Köln', '東京タワー'].map((text, index) => ({
    ...eventOf({ turn: index, what: 'said' }, index + 1),
    type: 'chat.message.received' as const,
    facts: {},
    body: { text },
  }))
  const past = given.map(({ seq, body }) => ({
    item: { type: 'message' as const, role: 'owner' as const, text: body.text },
    seqs: [seq],
  }))
  for (const [own, chain] of [
    [given, []],
    [[], past],
  ] as const) {
    expect(sourcesOf('You told me: Ada.', own, chain)).toEqual([1])
    expect(sourcesOf('KÖLN it is.', own, chain)).toEqual([2])
    expect(sourcesOf('東京タワー!', own, chain)).toEqual([3])
    expect(sourcesOf('It is twelve o’clock.', own, chain)).toEqual([])
  }
  // The input of this turn comes before the conversation; within each, the latest item wins.
  expect(sourcesOf('Ada', given.slice(0, 1), past)).toEqual([1])
  expect(sourcesOf('Ada', [], [...past, ...past.map((each) => ({ ...each, seqs: [9] }))])).toEqual([9])
})
