import fc from 'fast-check'
import { expect, test } from 'vitest'
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
      for (const { dropped, added, begins, minute, timezone, takesOpaque } of steps) {
        const kept = input.slice(0, Math.max(0, input.length - dropped))
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

test('of a conversation that grows, only what is new is encoded anew', () => {
  const encode = createInputEncoder(options)
  const said: InputItem[] = []
  const rests: number[] = []
  for (let turn = 0; turn < 50; turn += 1) {
    said.push({ type: 'message', role: 'owner', text: `question ${turn}` })
    const memories: InputItem = { type: 'inner', label: 'memories', text: `of ${turn}` }
    const now = new Date(Date.UTC(2026, 5, 2, 14, turn)).toISOString()
    const input = [...said.slice(0, -1), memories, ...said.slice(-1)]
    rests.push(encode({ input, now, timezone: 'UTC' }, self).rest.length)
    said.push({ type: 'message', role: 'delegate', text: `answer ${turn}` })
  }
  expect(Math.max(...rests.slice(2))).toBeLessThan(1000)
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
})
