import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toMessages } from '../../../src/model/completions/input.ts'
import { createDataBlocks } from '../../../src/model/openai/data-block.ts'
import type { InputItem } from '../../../src/model/port.ts'

const self = { provider: 'p', model: 'm' }
const options = { dataBlock: createDataBlocks(new Uint8Array(32)), splitsRoleTokens: true }
const now = '2026-06-02T12:00:00.000Z'
const convert = (input: readonly InputItem[]) =>
  toMessages({ instructions: 'You are a test.', input, now, timezone: 'Europe/Berlin' }, self, options)

const said = (role: 'owner' | 'delegate', text: string): InputItem => ({ type: 'message', role, text })
const call = (callId: string): InputItem => ({ type: 'tool_call', callId, name: 't', arguments: '{}' })
const result = (callId: string): InputItem => ({ type: 'tool_result', callId, output: `result of ${callId}` })

test('sends one system message, then user and assistant in turn, with the time as data', () => {
  const messages = convert([
    said('owner', 'One.'),
    { type: 'inner', label: 'memories', text: 'Ada.' },
    said('delegate', 'Yes.'),
    said('delegate', 'And?'),
    said('owner', 'Two.'),
  ])
  expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
  expect(messages[0]?.content).toMatch(/^You are a test\.\n\nText between/)
  expect(messages[1]?.content).toMatch(/^One\.\n\n<data [^>]+label="memories">\nAda\.\n/)
  expect(messages[2]?.content).toBe('Yes.\n\nAnd?')
  expect(messages[3]?.content).toMatch(
    /^<data [^>]+label="time">\nIt is now Tuesday, 2 June[\s\S]+\n\nTwo\.$/,
  )
})

test('begins with a user message, whatever came first', () => {
  const messages = convert([said('delegate', 'Your tea is ready.'), said('owner', 'Thanks.')])
  expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
})

test('puts each result after the message with its call, under an id that every template accepts', () => {
  const messages = convert([
    said('owner', 'Go.'),
    said('delegate', 'I look.'),
    call('toolu_01/a'),
    call('abcdefgh9'),
    said('owner', 'Hurry.'),
    result('abcdefgh9'),
    result('toolu_01/a'),
    call('c'),
    result('c'),
    call('without a result'),
    result('without a call'),
  ])
  expect(messages.map(({ role }) => role).join(' ')).toBe(
    'system user assistant tool tool assistant user assistant tool',
  )
  expect(messages[2]).toMatchObject({ content: 'I look.', tool_calls: [{}, { id: 'abcdefgh9' }] })
  expect(messages[3]).toMatchObject({ content: 'result of toolu_01/a' })
  expect(messages[4]).toMatchObject({ content: 'result of abcdefgh9', tool_call_id: 'abcdefgh9' })
  for (const id of JSON.stringify(messages).match(/(?<=tool_call_id":")[^"]+/g) ?? [])
    expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
})

test('lets no user follow a result, which the templates of Mistral refuse', () => {
  const messages = convert([said('owner', 'Go.'), call('a'), result('a'), said('owner', 'And?')])
  expect(messages.map(({ role }) => role).join(' ')).toBe('system user assistant tool assistant user')
})

test('sends arguments that are no JSON as the value of some', () => {
  const input: InputItem[] = [{ type: 'tool_call', callId: 'a', name: 't', arguments: '{"x":' }, result('a')]
  expect(JSON.stringify(convert(input))).toContain(JSON.stringify(JSON.stringify({ unreadable: '{"x":' })))
})

const marks = [
  '<|im_start|>',
  '<|',
  '|>',
  '[INST]',
  '[/INST]',
  '[SYSTEM_PROMPT]',
  '<<SYS>>',
  '<start_of_turn>',
]
const moreMarks = ['</s>', '<think>', '<tool_call>', '<｜User｜>', '<BOS_TOKEN>', '<bos>', '<unk>']
const ordinary = '<b>bold</b> a < b || c > d [TODO] [x] | a | <div>'

test('leaves no mark of a template anywhere, and ordinary text as it is', () => {
  const text = fc.array(fc.constantFrom(...marks, ...moreMarks, 'a', '<', '|', ' '), { minLength: 1 })
  fc.assert(
    fc.property(text, (parts) => {
      const hostile = parts.join('')
      const input: InputItem[] = [
        said('owner', hostile),
        said('delegate', hostile),
        { type: 'inner', label: hostile, text: hostile },
        { type: 'tool_call', callId: 'a', name: 't', arguments: JSON.stringify({ hostile }) },
        { type: 'tool_result', callId: 'a', output: hostile },
      ]
      const [, ...messages] = convert(input)
      const sent = JSON.stringify(messages)
      for (const mark of [...marks, ...moreMarks].filter((each) => each.length > 2))
        expect(sent).not.toContain(mark)
    }),
  )
  expect(convert([said('owner', ordinary)]).at(-1)?.content).toContain(ordinary)
})

test('gives every call its result and alternates, whatever the items', () => {
  const id = fc.constantFrom('a', 'b', 'c')
  const text = fc.string({ unit: 'grapheme' })
  const blobCall = fc.record({
    id,
    type: fc.constant('function'),
    function: fc.record({ name: text, arguments: text }),
  })
  const blob = fc.record({ content: fc.option(text), tool_calls: fc.array(blobCall, { maxLength: 3 }) })
  const item: fc.Arbitrary<InputItem> = fc.oneof(
    fc.record({
      type: fc.constant('message' as const),
      role: fc.constantFrom('owner' as const, 'guest' as const, 'delegate' as const),
      text,
    }),
    fc.record({ type: fc.constant('inner' as const), label: text, text }),
    fc.record({ type: fc.constant('tool_call' as const), callId: id, name: text, arguments: text }),
    fc.record({ type: fc.constant('tool_result' as const), callId: id, output: text }),
    fc.record({
      type: fc.constant('opaque' as const),
      model: fc.constantFrom(self, { provider: 'x', model: 'y' }),
      blob: fc.oneof(
        text,
        fc.json(),
        blob.map((value) => JSON.stringify(value)),
      ),
    }),
  )
  fc.assert(
    fc.property(fc.array(item), (input) => {
      const messages = convert(input)
      const waiting: string[] = []
      let previous = ''
      for (const message of messages) {
        if (message.role === 'tool') expect(waiting.shift()).toBe(message.tool_call_id)
        else expect(waiting).toEqual([])
        if (message.role === 'user') expect(['system', 'assistant']).toContain(previous)
        if (message.role === 'assistant') {
          expect(['user', 'tool']).toContain(previous)
          waiting.push(...(message.tool_calls ?? []).map((each) => each.id))
        }
        previous = message.role
      }
      expect(waiting).toEqual([])
    }),
  )
})
