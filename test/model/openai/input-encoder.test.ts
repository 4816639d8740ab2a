import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { createDataBlocks } from '../../../src/model/openai/data-block.ts'
import { toResponsesInput } from '../../../src/model/openai/input.ts'
import { createInputEncoder } from '../../../src/model/openai/input-encoder.ts'
import type { InputItem, ModelId } from '../../../src/model/port.ts'

const self: ModelId = { provider: 'p', model: 'm' }
const options = { dataBlock: createDataBlocks(new Uint8Array(32)), splitsRoleTokens: false }
const text = fc.string({ unit: 'binary', maxLength: 6 })
const callId = fc.constantFrom('a', 'b', 'c', '')

const aPlain: fc.Arbitrary<InputItem> = fc.oneof(
  fc.record({
    type: fc.constant('message' as const),
    role: fc.constantFrom('owner' as const, 'delegate' as const, 'guest' as const),
    text,
    at: fc
      .integer({ min: 0, max: 5 })
      .map((quarters) => new Date(Date.UTC(2026, 5, 2, 12, quarters * 15)).toISOString()),
  }),
  fc.record({ type: fc.constant('inner' as const), label: fc.constant('memories'), text }),
  fc.record({ type: fc.constant('tool_call' as const), callId, name: fc.constant('t'), arguments: text }),
  fc.record({ type: fc.constant('tool_result' as const), callId, output: text }),
)

const blob = fc.oneof(
  fc.constant('damaged'),
  fc
    .array(
      callId.map((id) => ({ type: 'function_call', call_id: id, name: 't', arguments: '{}' })),
      { minLength: 1, maxLength: 2 },
    )
    .map((items) => JSON.stringify(items)),
)

const anItem: fc.Arbitrary<InputItem> = fc.oneof(
  { arbitrary: aPlain, weight: 6 },
  {
    arbitrary: fc.record({
      type: fc.constant('opaque' as const),
      model: fc.constantFrom(self, { provider: 'p', model: 'another' }),
      blob,
      fallback: fc.array(aPlain, { maxLength: 2 }),
    }),
    weight: 1,
  },
)

/** How a request's context differs from the one before: most of it is the same objects. */
const aStep = fc.record({
  dropped: fc.nat({ max: 3 }),
  /** One of the items becomes another one, or goes. */
  changed: fc.option(fc.record({ at: fc.nat({ max: 30 }), to: fc.option(anItem) }), { freq: 5 }),
  added: fc.array(anItem, { maxLength: 4 }),
  begins: fc.option(anItem, { freq: 12 }),
  minute: fc.integer({ min: 0, max: 59 }),
  timezone: fc.oneof(
    { arbitrary: fc.constant('UTC'), weight: 8 },
    { arbitrary: fc.constant('Asia/Tokyo'), weight: 1 },
  ),
  takesOpaque: fc.oneof(
    { arbitrary: fc.constant(true), weight: 8 },
    { arbitrary: fc.constant(false), weight: 1 },
  ),
})

test('whatever contexts follow each other, each is encoded as if it were the first', () => {
  fc.assert(
    fc.property(fc.array(aStep, { maxLength: 12 }), (steps) => {
      const encode = createInputEncoder(options)
      let input: readonly InputItem[] = []
      for (const { dropped, changed, added, begins, minute, timezone, takesOpaque } of steps) {
        const kept = input.slice(0, Math.max(0, input.length - dropped))
        if (changed && changed.at < kept.length)
          kept.splice(changed.at, 1, ...(changed.to === null ? [] : [changed.to]))
        input = [...(begins === null ? [] : [begins]), ...kept, ...added]
        const request = { input, now: new Date(Date.UTC(2026, 5, 2, 14, minute)).toISOString(), timezone }
        const model = takesOpaque ? self : null
        const encoded = encode(request, model)
        const whole = [encoded.kept.toString(), encoded.rest].filter((part) => part !== '').join()
        const expected = toResponsesInput(request, { ...options, self: model })
        expect(JSON.parse(`[${whole}]`)).toEqual(JSON.parse(JSON.stringify(expected)))
      }
    }),
    { numRuns: 400 },
  )
})

const said = (turn: number): InputItem => ({ type: 'message', role: 'owner', text: `question ${turn}` })
const answered = (turn: number): InputItem => ({
  type: 'message',
  role: 'delegate',
  text: `answer ${turn}`,
})
/** A tool's round, in the turn that makes it, and in the context of those after it. */
const rounds = (turn: number): InputItem[] => [
  { type: 'tool_call', callId: `call-${turn}`, name: 't', arguments: '{}' },
  { type: 'tool_result', callId: `call-${turn}`, output: 'done' },
]

/** The bytes that were kept for each request of a conversation of so many turns; each is asked twice with tools. */
function converse(turns: number, { withTools }: { withTools: boolean }) {
  const encode = createInputEncoder(options)
  const context: InputItem[] = []
  const kept: Buffer[] = []
  const rests: number[] = []
  const ask = (input: readonly InputItem[]) => {
    const encoded = encode({ input, now: '2026-06-02T14:00:00.000Z', timezone: 'UTC' }, self)
    kept.push(encoded.kept)
    rests.push(encoded.rest.length)
  }
  for (let turn = 0; turn < turns; turn += 1) {
    const memories: InputItem = { type: 'inner', label: 'memories', text: `of ${turn}` }
    const cue = said(turn)
    const called = withTools ? rounds(turn) : []
    ask([...context, memories, cue])
    if (withTools) ask([...context, memories, cue, ...called])
    context.push(cue, ...called, answered(turn))
  }
  return { kept, rests }
}

test.each([false, true])(
  'of a conversation that grows, only what is new is encoded anew; with tools: %s',
  (withTools) => {
    const { kept, rests } = converse(200, { withTools })
    expect(Math.max(...rests)).toBeLessThan(1000)
    // What is kept of one request is the beginning of what is kept of the next, and not written again.
    const shorter = kept.filter((bytes, index) => bytes.length < (kept[index - 1]?.length ?? 0))
    expect(shorter.length).toBe(withTools ? 199 : 0)
    const copies = new Set(kept.map(({ buffer }) => buffer)).size
    if (!withTools) expect(copies).toBeLessThan(20)
  },
)

test('what a turn has in common with itself alone is cut off again, not all of what was kept', () => {
  const encode = createInputEncoder(options)
  let looks = 0
  const first: InputItem = {
    get type() {
      looks += 1
      return 'message' as const
    },
    role: 'owner',
    text: 'the first of all',
  }
  const context: InputItem[] = [first]
  const perTurn: number[] = []
  for (let turn = 0; turn < 20; turn += 1) {
    const memories: InputItem = { type: 'inner', label: 'memories', text: `of ${turn}` }
    looks = 0
    for (const round of [[], rounds(turn)]) {
      const input = [...context, memories, said(turn), ...round]
      encode({ input, now: '2026-06-02T14:00:00.000Z', timezone: 'UTC' }, self)
    }
    perTurn.push(looks)
    context.push(said(turn), ...rounds(turn), answered(turn))
  }
  expect(perTurn[0]).toBeGreaterThan(0)
  expect(perTurn.slice(2)).toEqual(Array(18).fill(0))
})

test('what one context kept stays as it was given out when the next writes behind it', () => {
  const encode = createInputEncoder(options)
  const item = (text: string): InputItem => ({ type: 'message', role: 'owner', text })
  const input = Array.from({ length: 40 }, (_, index) => item(`message ${index}`))
  const request = (length: number) => ({
    input: input.slice(0, length),
    now: '2026-06-02T12:00:00Z',
    timezone: 'UTC',
  })
  encode(request(10), self)
  const { kept } = encode(request(12), self)
  const before = kept.toString()
  for (let length = 13; length <= 40; length += 1) encode(request(length), self)
  expect(kept.toString()).toBe(before)

  // Cut back, and gone on with otherwise.
  const long = encode(request(40), self).kept
  const all = long.toString()
  const other = Array.from({ length: 20 }, (_, index) => item(`another ${index}`))
  for (let count = 10; count <= 20; count += 1)
    encode({ ...request(0), input: [...input.slice(0, 20), ...other.slice(0, count)] }, self)
  expect(long.toString()).toBe(all)
})

test('what nobody asks for in a minute is let go, and then kept anew', () => {
  vi.useFakeTimers()
  try {
    const encode = createInputEncoder(options)
    const input = Array.from({ length: 10 }, (_, turn) => said(turn))
    const ask = () => encode({ input, now: '2026-06-02T14:00:00.000Z', timezone: 'UTC' }, self).kept.length
    expect(ask()).toBe(0)
    const kept = ask()
    expect(kept).toBeGreaterThan(0)
    vi.advanceTimersByTime(59_000)
    expect(ask()).toBe(kept)
    vi.advanceTimersByTime(59_000)
    expect(ask()).toBe(kept)
    vi.advanceTimersByTime(61_000)
    expect(ask()).toBe(0)
    expect(ask()).toBe(kept)
  } finally {
    vi.useRealTimers()
  }
})
