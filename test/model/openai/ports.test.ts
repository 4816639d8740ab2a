import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { systemTiming } from '../../../src/model/openai/timing.ts'
import { CapabilityMissing } from '../../../src/model/port.ts'
import { EMBEDDING_DIMENSIONS } from '../../doubles/model/embed.ts'
import { httpFaults } from '../../doubles/model/script.ts'
import { toneFor } from '../../doubles/model/wav.ts'
import { API_KEY, never, request, run, setUp } from './fixture.ts'

const input = [{ type: 'message', role: 'owner', text: 'My sister is Ada.' }] as const
const facts = {
  instructions: 'Extract.',
  input,
  name: 'facts',
  schema: z.object({ facts: z.array(z.string()) }),
}
const present = <T>(value: T | null): T => {
  if (value === null) throw new TypeError('the service lacks this port')
  return value
}

test('asks for a structured answer by schema and parses it', async () => {
  const { double, service } = await setUp()
  double.reply({ text: '{"facts":["Ada is the sister"]}', usage: { inputTokens: 5, outputTokens: 6 } })
  const { value, usage } = await present(service.utility).answer(facts, never())
  expect(value).toEqual({ facts: ['Ada is the sister'] })
  expect(usage).toEqual({ inputTokens: 5, outputTokens: 6, cachedTokens: 0 })
  expect(double.requests('/responses')[0]?.body.text).toMatchObject({
    format: { type: 'json_schema', name: 'facts', strict: true },
  })
})

test.for(['{"facts":"Ada secret-words"}', 'no json', '', '{"facts": ['])(
  'reports an answer of another shape (%s) as malformed, without quoting it',
  async (text) => {
    const { double, service } = await setUp()
    double.reply({ text })
    const answer = present(service.utility).answer(facts, never())
    await expect(answer).rejects.toMatchObject({ name: 'ModelError', kind: 'malformed' })
    expect(inspect(await answer.catch((error: unknown) => error), { depth: 9 })).not.toContain('secret-words')
  },
)

test('asks a server without structured outputs in words from then on', async () => {
  const { double, service } = await setUp()
  const answer = { text: 'Sure!\n```json\n{"facts":[]}\n```' }
  double.reply(
    { fault: httpFaults.badRequest('json_schema is not supported', 'text.format') },
    answer,
    answer,
  )
  const utility = present(service.utility)
  expect((await utility.answer(facts, never())).value).toEqual({ facts: [] })
  expect((await utility.answer(facts, never())).value).toEqual({ facts: [] })
  const bodies = double.requests('/responses').map(({ body }) => body)
  expect(bodies.map((body) => 'text' in body)).toEqual([true, false, false])
  expect(String(bodies[2]?.instructions)).toContain('"facts"')
})

test('compacts to an opaque replacement that the next turn builds on', async () => {
  const { double, service } = await setUp()
  const { blob, usage } = await present(service.compaction).compact(
    { instructions: 'You are a test.', input },
    never(),
  )
  expect(usage.inputTokens).toBeGreaterThan(0)
  double.answerWith(({ text }) => ({ text: text.includes('My sister is Ada.') ? 'Ada.' : 'I do not know.' }))
  const opaque = { type: 'opaque', model: service.text.id, blob } as const
  const { completed } = await run(
    service,
    request({ input: [opaque, { type: 'message', role: 'owner', text: 'Who?' }] }),
  )
  expect(completed?.text).toBe('Ada.')
})

test('drops the compaction port when the server lacks it, and retries after a while', async () => {
  let nowMs = 0
  const { service } = await setUp({
    double: { lacks: ['/responses/compact'] },
    dependencies: { timing: { ...systemTiming, nowMs: () => nowMs } },
  })
  const attempt = present(service.compaction).compact({ instructions: '', input }, never())
  await expect(attempt).rejects.toBeInstanceOf(CapabilityMissing)
  await expect(attempt).rejects.toMatchObject({ kind: 'unavailable', capability: 'compaction' })
  expect(service.compaction).toBeNull()
  nowMs = 6 * 60 * 60 * 1000
  expect(service.compaction).not.toBeNull()
})

test('reports a failing compaction as a failure, not as a missing capability', async () => {
  const { double, service } = await setUp()
  double.replyToCompaction({ fault: httpFaults.unauthorised() })
  await expect(
    present(service.compaction).compact({ instructions: '', input }, never()),
  ).rejects.toMatchObject({ kind: 'auth' })
  expect(service.compaction).not.toBeNull()
})

test('returns embeddings in the order of the texts', async () => {
  const { double, service } = await setUp()
  const texts = Array.from({ length: 300 }, (_, index) => (index === 7 ? '' : `text number ${index}`))
  const { vectors, usage } = await present(service.embedding).embed(texts, never())
  expect(vectors).toHaveLength(300)
  expect(vectors.every((vector) => vector.length === EMBEDDING_DIMENSIONS)).toBe(true)
  const [alone] = (await present(service.embedding).embed(['text number 299'], never())).vectors
  expect(vectors[299]).toEqual(alone)
  expect(usage.inputTokens).toBeGreaterThan(0)
  expect(double.requests('/embeddings').map(({ body }) => body.encoding_format)).toEqual(['float', 'float'])
})

test('cuts a text that is too long to embed', async () => {
  const { double, service } = await setUp()
  await present(service.embedding).embed(['é'.repeat(10_000), '🙂'.repeat(5000)], never())
  const sent = double.requests('/embeddings')[0]?.body.input
  const bytes = Array.isArray(sent) ? sent.map((text) => Buffer.byteLength(String(text))) : []
  expect(bytes).toEqual([8192, 8192])
})

test('drops the embedding port when the server lacks it', async () => {
  const { service } = await setUp({ double: { lacks: ['/embeddings'] } })
  await expect(present(service.embedding).embed(['x'], never())).rejects.toBeInstanceOf(CapabilityMissing)
  expect(service.embedding).toBeNull()
})

test('offers no port that is not configured', async () => {
  const { another } = await setUp()
  const service = another({
    embeddingModel: null,
    realtimeModel: null,
    transcriptionModel: null,
    speechModel: null,
  })
  expect([service.embedding, service.realtime, service.speech]).toEqual([null, null, null])
})

test('transcribes and speaks', async () => {
  const { double, service } = await setUp()
  double.replyTo('/audio/transcriptions', { text: 'Remember the milk' })
  const speech = present(service.speech)
  expect(await speech.transcribe(new Uint8Array([1, 2, 3]), 'wav', never())).toBe('Remember the milk')
  expect(double.requests('/audio/transcriptions')[0]?.body.file).toBe('\u0001\u0002\u0003')
  const { audio, format } = await speech.speak('Noted.', never())
  expect([Buffer.from(audio).toString(), format]).toEqual(['mp3:Noted.', 'mp3'])
})

test('streams speech for a call as WAV, and aborts its request', async () => {
  const { double, service } = await setUp()
  const speech = present(service.speech)
  const chunks: Uint8Array[] = []
  for await (const chunk of speech.stream('Noted.', never())) chunks.push(chunk)
  expect(Buffer.concat(chunks)).toEqual(toneFor('Noted.'))
  expect(double.requests('/audio/speech')[0]?.body).toMatchObject({ response_format: 'wav', input: 'Noted.' })
  double.replyTo('/audio/speech', { fault: { kind: 'hang', at: 'headers' } })
  const abort = new AbortController()
  const next = speech.stream('Wait.', abort.signal)[Symbol.asyncIterator]().next()
  await double.stalled(1)
  abort.abort()
  await expect(next).rejects.toThrow('aborted')
  expect(await double.requests('/audio/speech')[1]?.ended).toBe('aborted')
})

test('speaks the first 4,096 characters of a text', async () => {
  const { double, service } = await setUp()
  await present(service.speech).speak('one two '.repeat(1000), never())
  expect(double.requests('/audio/speech').map(({ body }) => String(body.input).length)).toEqual([4096])
})

test.for(['transcription', 'speech'] as const)('asks a server without %s only once', async (capability) => {
  const path = capability === 'speech' ? '/audio/speech' : '/audio/transcriptions'
  const { double, service } = await setUp({ double: { lacks: [path] } })
  const speech = present(service.speech)
  const use = () =>
    capability === 'speech'
      ? speech.speak('x', never())
      : speech.transcribe(new Uint8Array(1), 'ogg', never())
  await expect(use()).rejects.toMatchObject({ capability })
  await expect(use()).rejects.toMatchObject({ capability })
  expect(double.requests(path)).toHaveLength(1)
})

test.for([
  ['https://api.openai.com/v1', 'wss://api.openai.com/v1/realtime?model=rt'],
  ['http://127.0.0.1:9', 'ws://127.0.0.1:9/realtime?model=rt'],
  ['https://host/a/b', 'wss://host/a/b/realtime?model=rt'],
] as const)('derives the realtime socket of %s: %s', async ([baseUrl, url]) => {
  const { another } = await setUp()
  const endpoint = present(another({ baseUrl, realtimeModel: 'rt' }).realtime)
  expect(endpoint).toEqual({ url, headers: { Authorization: `Bearer ${API_KEY}` }, model: 'rt' })
})

test('sends no Authorization header without a key', async () => {
  const { double, another } = await setUp()
  const service = another({ apiKey: null })
  expect((await run(service)).error).toMatchObject({ kind: 'auth' })
  expect(double.requests('/responses')[0]?.headers).not.toHaveProperty('authorization')
  expect(service.realtime?.headers).toEqual({})
})
