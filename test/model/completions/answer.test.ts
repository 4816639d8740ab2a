import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createThoughtFilter } from '../../../src/model/completions/thoughts.ts'
import type { InputItem } from '../../../src/model/port.ts'
import { dialects } from '../../doubles/model/completions.ts'
import { noteTool, request, run, setUp } from '../openai/fixture.ts'
import { chunk, startScripted } from './fixture.ts'

// OpenAI sends none.
const local = dialects.filter((dialect) => dialect !== 'openai')

test.for(local)('shows no thoughts of a model behind %s', async (dialect) => {
  const { service, double } = await setUp({ double: { dialect }, settings: { api: 'completions' } })
  double.reply({ thoughts: 'The owner says hello.', text: ['Hello ', '<b>', 'there.'] })
  const { deltas, completed } = await run(service)
  expect(completed?.text).toBe('Hello <b>there.')
  expect(deltas.join('')).toBe('Hello <b>there.')
})

test('drops thoughts however they are cut, and nothing else', () => {
  const words = fc.string({ unit: fc.constantFrom('<', 'think', '>', '/', 'a', ' '), minLength: 1 })
  fc.assert(
    fc.property(words, words, fc.array(fc.nat(), { maxLength: 9 }), (thought, answer, cuts) => {
      fc.pre(!thought.includes('</think>') && !answer.trimStart().startsWith('<think>'))
      const said = answer.trim()
      const all = ` <think>${thought}</think>\n\n${said}`
      const places = [0, ...cuts.map((cut) => cut % all.length).sort((a, b) => a - b), all.length]
      const filter = createThoughtFilter()
      const shown = places.slice(1).map((end, index) => filter.push(all.slice(places[index], end)))
      expect(shown.join('') + filter.end()).toBe(said)
    }),
  )
})

test('answers without thoughts that a template opened', async () => {
  const { completions } = await startScripted([chunk({ content: 'Hm.</think>\nHello.' }, 'stop')])
  expect((await run(completions)).completed?.text).toBe('Hello.')
})

test.for<[string, readonly unknown[], readonly unknown[]]>([
  [
    'whole, without an index, as of Gemini',
    [
      { id: 'a', type: 'function', function: { name: 'one', arguments: '{"x":1}' } },
      { id: 'b', type: 'function', function: { name: 'two', arguments: '{"x":2}' } },
    ],
    ['a one {"x":1}', 'b two {"x":2}'],
  ],
  [
    'whole, of one index and without an id',
    [
      { index: 0, function: { name: 'one', arguments: { x: 1 } } },
      { index: 0, function: { name: 'one', arguments: { x: 2 } } },
    ],
    ['one {"x":1}', 'one {"x":2}'],
  ],
  [
    'in pieces that repeat the name and the id',
    [
      { index: 0, id: 'a', function: { name: 'one', arguments: '{"x"' } },
      { index: 0, id: 'a', function: { name: 'one', arguments: ':1}' } },
    ],
    ['a one {"x":1}'],
  ],
  [
    'in mixed pieces, the first without arguments',
    [
      { index: 0, id: 'a', function: { name: 'one' } },
      { index: 1, id: 'b', function: { name: 'two', arguments: '' } },
      { index: 0, function: { arguments: '{"x":' } },
      { index: 1, id: '', function: { arguments: '{}' } },
      { index: 0, id: null, function: { name: null, arguments: '1}' } },
    ],
    ['a one {"x":1}', 'b two {}'],
  ],
  [
    'with one id for two calls, and no arguments',
    [
      { index: 0, id: 'a', function: { name: 'one', arguments: '' } },
      { index: 1, id: 'a', function: { name: 'two', arguments: null } },
    ],
    ['a one {}', 'two {}'],
  ],
])('reads calls %s', async ([, pieces, expected]) => {
  const chunks = pieces.map((piece) => chunk({ tool_calls: [piece] }))
  const { completions } = await startScripted([...chunks, chunk({}, 'stop')])
  const { completed, error } = await run(completions)
  expect(error).toBeNull()
  const calls = completed?.toolCalls ?? []
  expect(new Set(calls.map(({ callId }) => callId)).size).toBe(calls.length)
  expect(
    calls.map(({ callId, name, arguments: args }) =>
      [...(/^[ab]$/.test(callId) ? [callId] : []), name, args].join(' '),
    ),
  ).toEqual(expected)
})

test('leaves out a call that the output limit cut', async () => {
  const calls = [
    { index: 0, id: 'a', function: { name: 'one', arguments: '{}' } },
    { index: 1, id: 'b', function: { name: 'two', arguments: '{"x":' } },
  ]
  const { completions } = await startScripted([chunk({ tool_calls: calls }, 'length')])
  const { completed } = await run(completions)
  expect(completed).toMatchObject({ truncated: true, toolCalls: [{ callId: 'a' }] })
})

test('reads an answer that is not streamed, and parts of content', async () => {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
    { type: 'text', text: 'All at once.' },
  ]
  const json = { id: 'r', choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] }
  const { completions } = await startScripted({ status: 200, json })
  const { deltas, completed } = await run(completions)
  expect([...deltas, completed?.text]).toEqual(['All at once.', 'All at once.'])
  expect(completed).toMatchObject({ responseId: 'r', usage: { cachedTokens: 0 } })
})

test('returns the signature of a call and the reasoning before it, to the same model only', async () => {
  const signature = { extra_content: { google: { thought_signature: 'sealed' } } }
  const call = {
    id: 'call_a',
    type: 'function',
    function: { name: 'create_note', arguments: '{}' },
    ...signature,
  }
  const { completions, sent } = await startScripted(
    [
      chunk({ reasoning_content: 'Hm, ' }),
      chunk({ reasoning_content: 'a note.', tool_calls: [call] }, 'stop'),
    ],
    [chunk({ content: 'Done.' }, 'stop')],
    [chunk({ content: 'Done.' }, 'stop')],
  )
  const { completed } = await run(completions, request({ tools: [noteTool] }))
  const inputFor = (model: string): InputItem[] => [
    { type: 'message', role: 'owner', text: 'Hello' },
    { type: 'opaque', model: { ...completions.text.id, model }, blob: completed?.blob ?? '' },
    { type: 'tool_result', callId: 'call_a', output: 'ok' },
  ]
  for (const model of ['test-model', 'other-model'])
    await run(completions, request({ input: inputFor(model), tools: [noteTool] }))
  const [, own, others] = sent
  expect(own?.body.messages?.slice(-2)).toMatchObject([
    { role: 'assistant', reasoning_content: 'Hm, a note.', tool_calls: [{ ...signature, type: 'function' }] },
    { role: 'tool', content: 'ok' },
  ])
  expect(JSON.stringify(others?.body)).not.toMatch(/sealed|Hm|"tool"/)
})
