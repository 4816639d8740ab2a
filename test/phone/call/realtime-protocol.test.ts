import fc from 'fast-check'
import { expect, test } from 'vitest'
import { muLaw } from '../../../src/phone/call/codec.ts'
import { parseServerEvent } from '../../../src/phone/call/realtime-protocol.ts'
import { sessionOpening } from '../../../src/phone/call/session-config.ts'
import { hasOpenAiSpec, loadOpenAiSpec } from '../../doubles/spec/openai-spec.ts'

const delta = {
  type: 'response.output_audio.delta',
  event_id: 'e1',
  response_id: 'r1',
  item_id: 'i1',
  output_index: 0,
  content_index: 0,
  delta: '//8=',
}

const parse = (event: unknown) => parseServerEvent(JSON.stringify(event))

test('reads the parts of an event that the call needs', () => {
  expect(parse(delta)).toEqual({
    status: 'event',
    event: {
      type: 'response.output_audio.delta',
      response_id: 'r1',
      item_id: 'i1',
      content_index: 0,
      delta: '//8=',
    },
  })
})

test('ignores an event of an unknown type', () => {
  expect(parse({ type: 'response.novelty', event_id: 'e1' })).toEqual({
    status: 'ignored',
    type: 'response.novelty',
  })
  expect(parse({ type: 'toString' }).status).toBe('ignored')
})

test.each([
  ['a group of base64 that is not whole', { ...delta, delta: 'abc' }],
  ['padding alone', { ...delta, delta: '====' }],
  ['audio that is no base64', { ...delta, delta: '"}]' }],
  ['no item', { ...delta, item_id: undefined }],
  ['an id without end', { ...delta, item_id: 'x'.repeat(201) }],
  ['no type', {}],
  ['a list', []],
])('rejects %s as malformed', (_what, event) => {
  expect(parse(event).status).toBe('malformed')
})

test('never throws, whatever the text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      expect(['event', 'ignored', 'malformed']).toContain(parseServerEvent(text).status)
    }),
  )
})

test('accepts a response without details', () => {
  expect(parse({ type: 'response.done', response: { id: 'r1', status: 'cancelled' } })).toMatchObject({
    event: { response: { id: 'r1', status: 'cancelled', output: [] } },
  })
})

const opening = sessionOpening(
  {
    instructions: 'Be brief.',
    history: [
      { role: 'inner', text: 'memory' },
      { role: 'caller', text: 'hi' },
      { role: 'delegate', text: 'hello' },
    ],
    tools: [{ name: 'note', description: 'Writes a note.', parameters: { type: 'object' } }],
    voice: 'marin',
    transcriptionModel: 'gpt-4o-mini-transcribe',
  },
  muLaw,
)

test('sets both directions of a session to mu-law first', () => {
  expect(opening[0]).toMatchObject({
    type: 'session.update',
    session: {
      audio: { input: { format: { type: 'audio/pcmu' } }, output: { format: { type: 'audio/pcmu' } } },
    },
  })
})

test.runIf(hasOpenAiSpec())('opens a session with documented events', () => {
  const spec = loadOpenAiSpec()
  for (const event of opening) expect(spec?.schema('RealtimeClientEvent', event)).toEqual([])
})
