import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import * as z from 'zod'
import { audioEnvelope, createEventReader, parseServerEvent } from '../../src/voice/realtime-protocol.ts'
import { sessionOpening } from '../../src/voice/session-config.ts'
import { hasOpenAiSpec, loadOpenAiSpec } from '../doubles/spec/openai-spec.ts'

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

test('an event is read as far as the call needs it', () => {
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

test('whatever stands in an audio delta, it is read as the general rules for events say', () => {
  const oddly = fc.oneof(
    fc.constantFrom('', '//8=', 'abc', '=', 'ab==', 'a===', '====', 'a b=', 'x'.repeat(201)),
    fc.jsonValue(),
  )
  const fields = fc.record({ response_id: oddly, item_id: oddly, content_index: oddly, delta: oddly })
  const plainly = z.object({
    response_id: z.string().min(1).max(200),
    item_id: z.string().min(1).max(200),
    content_index: z.number().default(0),
    delta: z.base64(),
  })
  fc.assert(
    fc.property(fields, fc.subarray(['response_id', 'item_id', 'content_index', 'delta']), (odd, which) => {
      const event = {
        ...delta,
        ...Object.fromEntries(Object.entries(odd).filter(([k]) => which.includes(k))),
      }
      const expected = plainly.safeParse(JSON.parse(JSON.stringify(event)))
      const parsed = parse(event)
      expect(parsed.status).toBe(expected.success ? 'event' : 'malformed')
      if (parsed.status === 'event') expect(parsed.event).toEqual({ type: delta.type, ...expected.data })
    }),
  )
})

test('an event of a type that this build does not know is passed over', () => {
  expect(parse({ type: 'response.novelty', event_id: 'e1' })).toEqual({
    status: 'ignored',
    type: 'response.novelty',
  })
  expect(parse({ type: 'toString' }).status).toBe('ignored')
})

test.each([
  ['audio that is no base64', { ...delta, delta: '"}]' }],
  ['no item', { ...delta, item_id: undefined }],
  ['an id without end', { ...delta, item_id: 'x'.repeat(201) }],
  ['no type', {}],
  ['a list', []],
])('%s is malformed', (_what, event) => {
  expect(parse(event).status).toBe('malformed')
})

test('no text makes the parser throw', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      expect(['event', 'ignored', 'malformed']).toContain(parseServerEvent(text).status)
    }),
  )
})

test('a response without details is read', () => {
  expect(parse({ type: 'response.done', response: { id: 'r1', status: 'cancelled' } })).toMatchObject({
    event: { response: { id: 'r1', status: 'cancelled', output: [] } },
  })
})

test('audio goes out as the event that the service expects', () => {
  const envelope = audioEnvelope()
  for (const audio of ['//8=', 'AAAA', '', '////////']) {
    expect(JSON.parse(envelope.wrap(audio).toString())).toEqual({ type: 'input_audio_buffer.append', audio })
  }
})

test('a reader reads every event as if it were the first one', () => {
  const audio = fc.oneof(
    fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    fc.constantFrom('', '=', 'ab==', 'abc=', 'a===', '====', 'a b=', 'ab=c', '"', '","delta":"', 'ÿÿÿÿ'),
  )
  const usual = fc
    .record({
      event_id: fc.oneof(
        fc.string({ maxLength: 5 }),
        fc.constantFrom('event_1', 'event_22', 'x'.repeat(201)),
      ),
      response_id: fc.constantFrom('r1', 'r2', ''),
      item_id: fc.constantFrom('i1', 'i2', 'x'.repeat(201)),
      content_index: fc.constantFrom(0, 1, '0'),
      delta: audio,
    })
    .map((given) => JSON.stringify({ ...delta, ...given }))
  const odd = fc.oneof(
    fc.json(),
    fc.constant(JSON.stringify({ type: 'input_audio_buffer.speech_started', event_id: 'e1', delta: '//8=' })),
    fc.constant(JSON.stringify({ ...delta, type: 'response.output_audio_transcript.delta' })),
    fc.constant(JSON.stringify({ ...delta, note: 'delta' })),
    fc.constant(`${JSON.stringify(delta).slice(0, -1)},"delta":"AAAA"}`),
    fc.constant(`${JSON.stringify(delta).slice(0, -1)},"d\\u0065lta":"AAAA"}`),
  )
  const changed = fc.record({ text: usual, at: fc.nat(300), by: fc.string({ maxLength: 3 }), cut: fc.nat(3) })
  const spoilt = changed.map(({ text, at, by, cut }) => `${text.slice(0, at)}${by}${text.slice(at + cut)}`)
  const texts = fc.array(fc.oneof({ weight: 6, arbitrary: usual }, odd, spoilt), { maxLength: 12 })
  const plain = JSON.stringify(delta)
  fc.assert(
    fc.property(texts, (events) => {
      const reader = createEventReader()
      for (const text of events.flatMap((event) => [event, plain])) {
        const bytes = Buffer.from(text)
        expect(reader.read(bytes)).toEqual(parseServerEvent(bytes.toString()))
      }
    }),
    { numRuns: 300 },
  )
})

test('a delta like the one before it is not parsed again', () => {
  const reader = createEventReader()
  const bytes = (event: unknown) => Buffer.from(JSON.stringify(event))
  reader.read(bytes(delta))
  const parse = vi.spyOn(JSON, 'parse')
  expect(reader.read(bytes({ ...delta, event_id: 'event_2', delta: 'AAAA' }))).toMatchObject({
    event: { delta: 'AAAA' },
  })
  expect(parse).not.toHaveBeenCalled()
  parse.mockRestore()
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
    language: 'en',
  },
  true,
)

test('both directions of a session are mu-law, before anything else is said', () => {
  expect(opening[0]).toMatchObject({
    type: 'session.update',
    session: {
      audio: { input: { format: { type: 'audio/pcmu' } }, output: { format: { type: 'audio/pcmu' } } },
    },
  })
})

test.runIf(hasOpenAiSpec())('what opens a session is as documented', () => {
  const spec = loadOpenAiSpec()
  for (const event of opening) expect(spec?.schema('RealtimeClientEvent', event)).toEqual([])
})
