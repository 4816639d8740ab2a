import { describe, expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { type At, type Fault, httpFaults, type Reply } from '../doubles/model/script.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { startWholeService } from '../support/service.ts'

async function start() {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  const environment = {
    OPENAI_API_KEY: 'sk-test-key-of-the-double',
    OPENAI_BASE_URL: double.url,
    CHAT_MODEL: 'test-model',
  }
  const service = await startWholeService({ environment })
  return { double, service }
}

const CALL: Reply = { toolCalls: [{ name: 'create_note', arguments: { title: 'List', content: 'Eggs' } }] }

/** Faults that no retry mends, and what each is called. */
const lasting: readonly (readonly [string, Fault, string])[] = [
  ['401', httpFaults.unauthorised(), 'model_auth'],
  ['no quota', httpFaults.outOfQuota(), 'model_quota'],
  ['429 for long', httpFaults.rateLimited('3600'), 'model_rate_limited'],
  ['an early end', { kind: 'ends', at: 2 }, 'model_unavailable'],
  ['something that is no JSON', { kind: 'malformed', at: 2 }, 'model_malformed'],
  ['a huge event', { kind: 'huge', at: 2, bytes: 40_000_000 }, 'model_malformed'],
]

describe.each(lasting)('%s', (_name, fault, code) => {
  test.each(['first', 'second'])(
    'in the %s round of a turn is one honest error, and the chain is as it was',
    async (round) => {
      const { double, service } = await start()
      double.reply({ text: 'Good morning.' })
      await service.client.post('/api/chat', { content: 'Hello' })
      if (round === 'second') double.reply(CALL)
      // Whatever the adapter tries again meets the same fault.
      double.answerWith(() => ({ text: ['Half', ' of it'], fault }))
      const failed = await service.client.post('/api/chat', { content: 'Write the list' })
      expect(failed.status, failed.text).toBe(502)
      expect(failed.json.code).toBe(code)
      const { events } = (await service.client.get('/api/timeline')).json
      expect(events.filter(({ type }: { type: string }) => type === 'turn.failed')).toHaveLength(1)

      double.answerWith(() => ({ text: 'Here again.' }))
      const next = await service.client.post('/api/chat', { content: 'And now?' })
      expect(next.json.reply.text).toBe('Here again.')
      const input = turnRequests(double).at(-1)?.text ?? ''
      expect(input).toContain('Good morning.')
      expect(input).not.toContain('Write the list')
    },
  )
})

test.each<At>(['headers', 2])(
  'a connection that breaks (%s) before a word was said is tried again',
  async (at) => {
    const { double, service } = await start()
    double.reply({ text: 'never heard', fault: { kind: 'cut', at } }, { text: 'Heard.' })
    const answer = await service.client.post('/api/chat', { content: 'Hello' })
    expect(answer.json.reply?.text ?? answer.text).toBe('Heard.')
  },
)

test('arguments that do not fit are refused and recorded, not run, and the model is told so', async () => {
  const { double, service } = await start()
  double.reply(
    { toolCalls: [{ name: 'create_note', arguments: { title: 5, content: '', evil: true } }] },
    { toolCalls: [{ name: 'rm_rf', arguments: {} }] },
    { text: 'I could not.' },
  )
  const answer = await service.client.post('/api/chat', { content: 'Write it' })
  expect(answer.json.reply.text).toBe('I could not.')
  expect((await service.client.get('/api/notes')).json.notes).toEqual([])
  const report = (await service.client.get(`/api/turns/${answer.json.turnId}`)).json
  expect(report.tools.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['refused', 'refused'])
})

test('a model that calls tools for ever is stopped after some rounds', async () => {
  const { double, service } = await start()
  double.answerWith(() => ({ toolCalls: [{ name: 'current_time', arguments: {} }] }))
  const answer = await service.client.post('/api/chat', { content: 'Loop' })
  expect(answer.json.code).toBe('model_too_many_rounds')
  expect(turnRequests(double).length).toBeLessThan(20)
})

test('a replacement that the service refuses is taken as text, and the turn goes on', async () => {
  const { double, service } = await start()
  double.answerWith(({ text, body }) => {
    if (JSON.stringify(body.input).includes('"compaction"'))
      return { fault: httpFaults.badRequest('Invalid compaction item.', 'input') }
    return { text: text.includes('heliotrope') ? 'heliotrope' : 'unknown' }
  })
  await service.client.post('/api/chat', { content: 'The word is heliotrope' })
  expect((await service.client.post('/api/session/context/compact')).status).toBe(200)
  const answer = await service.client.post('/api/chat', { content: 'What was it?' })
  expect(answer.json.reply?.text ?? answer.text).toBe('heliotrope')
})

test('an answer that is too long for a reply becomes a note, and the reply points to it', async () => {
  const { double, service } = await start()
  const long = `# The history of tea\n\n${'Tea is old. '.repeat(800)}`
  double.reply({ text: long })
  const answer = await service.client.post('/api/chat', { content: 'Tell me all about tea' })
  const { notes } = (await service.client.get('/api/notes')).json
  expect(notes).toHaveLength(1)
  expect(notes[0]).toMatchObject({ title: 'The history of tea', source: 'delegate' })
  expect(answer.json.reply.text).toContain(`/notes/${notes[0].id}`)
  expect((await service.client.get(`/api/notes/${notes[0].id}`)).json.content).toBe(long)
})

test('a chain over its threshold is compacted by itself, and the conversation goes on', async () => {
  const { double, service } = await start()
  await service.client.put('/api/config', { entries: { COMPACT_THRESHOLD_TOKENS: 2000 } })
  double.answerWith(({ text }) => ({
    text: text.includes('heliotrope') ? 'heliotrope' : 'unknown',
    usage: { inputTokens: 3000, outputTokens: 10 },
  }))
  await service.client.post('/api/chat', { content: `The word is heliotrope. ${'And so on. '.repeat(300)}` })
  await expect
    .poll(async () => (await service.client.get('/api/session/context')).json.latestCompaction?.source)
    .toBe('automatic')
  expect((await service.client.post('/api/chat', { content: 'What was it?' })).json.reply.text).toBe(
    'heliotrope',
  )
})

test('a server without the compaction endpoint compacts by a written replacement', async () => {
  const double = await startModelDouble({ lacks: ['/responses/compact'] })
  onTestFinished(() => double.close())
  const environment = {
    OPENAI_API_KEY: 'sk-test-key-of-the-double',
    OPENAI_BASE_URL: double.url,
    CHAT_MODEL: 'test-model',
  }
  const { client } = await startWholeService({ environment })
  double.answerWith(({ text }) => ({ text: text.includes('heliotrope') ? 'heliotrope' : 'unknown' }))
  await client.post('/api/chat', { content: 'The word is heliotrope' })
  expect((await client.post('/api/session/context/compact')).status).toBe(200)
  expect((await client.post('/api/chat', { content: 'What was it?' })).json.reply.text).toBe('heliotrope')
})

test('a replacement that turns out no smaller gives way to its text, and is not made again and again', async () => {
  const { double, service } = await start()
  await service.client.put('/api/config', { entries: { COMPACT_THRESHOLD_TOKENS: 2000 } })
  // The double seals all that it was given: its opaque replacement never gets smaller than the conversation.
  double.answerWith(({ text }) => ({
    text: text.includes('Write the capsule now')
      ? 'The word is heliotrope.'
      : text.includes('heliotrope')
        ? 'heliotrope'
        : 'unknown',
    usage: { inputTokens: Math.ceil(text.length / 4), outputTokens: 5 },
  }))
  await service.client.post('/api/chat', { content: `The word is heliotrope. ${'And so on. '.repeat(1000)}` })
  for (let turn = 0; turn < 6; turn += 1) {
    expect((await service.client.post('/api/chat', { content: 'What was it?' })).json.reply.text).toBe(
      'heliotrope',
    )
  }
  const report = (await service.client.get('/api/session/operations?hours=1')).json
  expect(report.context.automaticCompactions).toBeLessThanOrEqual(2)
  expect(turnRequests(double).at(-1)?.text.length).toBeLessThan(8000)
})
