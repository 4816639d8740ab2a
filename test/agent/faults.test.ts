import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { type At, type Fault, httpFaults, type Reply } from '../doubles/model/script.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { openTab } from '../support/chat-tab.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'
import { openTestWriter } from '../support/writer.ts'
import { startWithModel } from './with-model.ts'

const CALL: Reply = { toolCalls: [{ name: 'create_note', arguments: { title: 'List', content: 'Eggs' } }] }

/** From before the first byte of an answer to the middle of its words. */
const POINTS = ['headers', 0, 2, 5] as const

type Lasting = {
  readonly name: string
  readonly fault: (at: At) => Fault
  readonly points: readonly At[]
  readonly code: string
}

/** Faults that no retry mends. */
const FAILURES: readonly Lasting[] = [
  { name: '401', fault: () => httpFaults.unauthorised(), points: ['headers'], code: 'model_auth' },
  { name: 'no quota', fault: () => httpFaults.outOfQuota(), points: ['headers'], code: 'model_quota' },
  { name: '500', fault: () => httpFaults.serverError(), points: ['headers'], code: 'model_unavailable' },
  {
    name: '429',
    fault: () => httpFaults.rateLimited('3600'),
    points: ['headers'],
    code: 'model_rate_limited',
  },
  { name: 'early end', fault: (at) => ({ kind: 'ends', at }), points: [0, 2, 5], code: 'model_unavailable' },
  {
    name: 'not JSON',
    fault: (at) => ({ kind: 'malformed', at }),
    points: [0, 2, 5],
    code: 'model_malformed',
  },
  {
    name: 'huge event',
    fault: (at) => ({ kind: 'huge', at, bytes: 20_000_000 }),
    points: [2],
    code: 'model_malformed',
  },
]
const STALLS: readonly Lasting[] = [
  { name: 'hang', fault: (at) => ({ kind: 'hang', at }), points: POINTS, code: 'model_timeout' },
  {
    name: 'drip',
    fault: (at) => ({ kind: 'drip', at, intervalMs: 5 }),
    points: [0, 2, 5],
    code: 'model_timeout',
  },
]

for (const group of [
  { kind: 'failure', faults: FAILURES, limits: {} },
  { kind: 'stall', faults: STALLS, limits: { firstEventMs: 200, idleMs: 200 } },
])
  test(`reports a lasting ${group.kind} of the model once, and keeps the request for the next turn`, {
    tags: group.kind === 'stall' ? ['long'] : [],
  }, async () => {
    const { double, service } = await startWithModel({ ...group.limits, attempts: 2, backoffMs: 10 })
    double.answerWith(() => ({ text: 'Good morning.' }))
    await service.client.post('/api/chat', { content: 'Hello' })
    let failures = 0
    for (const { name, fault, points, code } of group.faults) {
      for (const at of points) {
        for (const round of [1, 2]) {
          const where = `${name} at ${at}, round ${round}`
          if (round === 2) double.reply(CALL)
          // Each retry meets the same fault.
          double.answerWith(() => ({ text: ['Half', ' of it'], fault: fault(at) }))
          const failed = await service.client.post('/api/chat', { content: 'Write the list' })
          expect([where, failed.status, failed.json.code]).toEqual([where, 502, code])
          failures += 1
          const { events } = (await service.client.get('/api/timeline?limit=5000')).json
          const ended = events.filter(({ type }: { type: string }) => type === 'turn.failed')
          expect([where, ended.length]).toEqual([where, failures])
          // The deadline, and what the service itself needs on a busy machine.
          expect(ended.at(-1).payload.durationMs).toBeLessThan(10_000)

          double.answerWith(() => ({ text: 'Here again.' }))
          const next = await service.client.post('/api/chat', { content: 'And now?' })
          expect([where, next.json.reply.text]).toEqual([where, 'Here again.'])
          // Recall may bring up the request too, but as data.
          const input = (turnRequests(double).at(-1)?.text ?? '').replaceAll(/<data .*?<\/data [^>]*>/gs, '')
          expect(input).toContain('Good morning.')
          expect(input.split('Write the list')).toHaveLength(2)
          // The request is over once a turn is answered.
          expect((await service.client.post('/api/chat', { content: 'Fine' })).status).toBe(200)
          expect(
            turnRequests(double)
              .at(-1)
              ?.text.replaceAll(/<data .*?<\/data [^>]*>/gs, ''),
          ).not.toContain('Write the list')
        }
      }
    }
  })

test('keeps what was said before a failure, and reports the failure alone as the outcome', async () => {
  const { double, service } = await startWithModel({ attempts: 1 })
  const tab = await openTab(service)
  double.reply({ text: ['The ferry', ' leaves at nine.'], fault: { kind: 'ends', at: 5 } })
  const asked = { content: 'When does the ferry leave?', clientMessageId: 'm1' }
  expect(await service.client.post('/api/chat', asked)).toMatchObject({ status: 502 })
  await tab.hear(({ type }) => type === 'chat.done')
  expect(tab.heard.map(({ type }) => type)).not.toContain('chat.response')
  const { events } = (await service.client.get('/api/timeline')).json
  const ends = events.filter(({ type }: { type: string }) => /^chat.reply|^turn.failed/.test(type))
  expect(ends).toMatchObject([
    { type: 'chat.reply.stopped', payload: { reason: 'failed', text: 'The ferry' } },
    { type: 'turn.failed', payload: { kind: 'unavailable' } },
  ])
  expect(await service.client.post('/api/chat', asked)).toMatchObject({
    status: 502,
    json: { code: 'model_unavailable', detail: ends[1].payload.text },
  })
})

test('says how long a service that limits requests asks to wait', async () => {
  const { double, service } = await startWithModel()
  double.reply({ fault: httpFaults.rateLimited('300') })
  const { json } = await service.client.post('/api/chat', { content: 'Hello' })
  expect([json.code, json.detail]).toEqual([
    'model_rate_limited',
    'The model service is limiting my requests. Please try again in 5 minutes.',
  ])
})

test.each<At>(['headers', 2])('retries a connection that breaks (%s) before the first word', async (at) => {
  const { double, service } = await startWithModel()
  double.reply({ text: 'never heard', fault: { kind: 'cut', at } }, { text: 'Heard.' })
  const answer = await service.client.post('/api/chat', { content: 'Hello' })
  expect(answer.json.reply?.text ?? answer.text).toBe('Heard.')
})

const LIST = { title: 'List', content: 'Eggs' }

const REFUSED: readonly (readonly [tool: string, args: unknown])[] = [
  ['create_note', { ...LIST, title: 5 }],
  ['create_note', { ...LIST, content: '' }],
  ['create_note', { title: 'List' }],
  ['create_note', { ...LIST, evil: true }],
  ['create_note', '{"title":"List","content":"Eggs","__proto__":{"evil":true}}'],
  ['create_note', [LIST]],
  ['create_note', 'null'],
  ['create_note', '{"title":"List","content":"Eggs"'],
  ['create_note', 'Eggs'],
  ['rm_rf', {}],
  ['constructor', {}],
]

test('refuses and records unknown tools and invalid arguments, and tells the model', async () => {
  const { double, service } = await startWithModel()
  for (const [tool, args] of REFUSED) {
    double.reply({ toolCalls: [{ name: tool, arguments: args }] }, { text: 'I could not.' })
    const { json } = await service.client.post('/api/chat', { content: 'Write it' })
    expect([tool, args, json.reply?.text]).toEqual([tool, args, 'I could not.'])
    const report = (await service.client.get(`/api/turns/${json.turnId}`)).json
    expect(report.tools.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['refused'])
    const reason = tool === 'create_note' ? 'invalid_arguments' : 'unknown_tool'
    expect(turnRequests(double).at(-1)?.text).toContain(reason)
    const { events } = (await service.client.get('/api/timeline?limit=5000')).json
    const last = (type: string) => events.findLast((event: { type: string }) => event.type === type)
    expect(last('tool.called')).toMatchObject({ turnId: json.turnId, payload: { tool } })
    expect(last('tool.returned')).toMatchObject({
      turnId: json.turnId,
      payload: { tool, outcome: 'refused', reason },
    })
  }
  expect((await service.client.get('/api/notes')).json.notes).toEqual([])
})

test.each([
  {
    name: 'two calls of one id in one answer',
    calls: [1, 2].map((n) => ({
      name: 'create_note',
      arguments: { title: `${n}`, content: 'Eggs' },
      callId: 'c',
    })),
  },
  {
    name: 'a name longer than a tool can have',
    calls: [{ name: 'x'.repeat(150), arguments: {} }],
  },
])('runs nothing of an answer with $name', async ({ calls }) => {
  const { double, service } = await startWithModel()
  double.reply({ toolCalls: calls })
  const answer = await service.client.post('/api/chat', { content: 'Write it' })
  expect(answer.json).toMatchObject({ status: 502, code: 'model_malformed' })
  expect((await service.client.get('/api/notes')).json.notes).toEqual([])
})

test('passes the signals of a failed turn to the next turn', async () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append({
    type: 'signal.raised',
    actor: 'service',
    facts: { signalId: 's1', kind: 'text_failed', mode: 'next-turn', priority: 4, dedupKey: 'text-failed:1' },
    body: { text: 'The text about the heliotrope did not arrive' },
  })
  writer.close()
  const { double, service } = await startWithModel({}, directory)
  double.reply({ fault: httpFaults.unauthorised() })
  const failed = await service.client.post('/api/chat', { content: 'Hello' })
  expect(failed.json.code).toBe('model_auth')
  for (const [content, isTold] of [
    ['Hello again', true],
    ['And now?', false],
  ] as const) {
    double.reply({ text: 'Yes.' })
    const { turnId } = (await service.client.post('/api/chat', { content })).json
    expect(turnRequests(double).at(-1)?.text.includes('about the heliotrope did not arrive')).toBe(isTold)
    const { signals } = (await service.client.get(`/api/turns/${turnId}`)).json
    expect(signals).toHaveLength(isTold ? 1 : 0)
  }
})

test('points to the settings when the model does not exist', async () => {
  const { double, service } = await startWithModel()
  double.reply({ fault: httpFaults.notFound('The model `gpt-typo` does not exist') })
  expect((await service.client.post('/api/chat', { content: 'Hello' })).json.code).toBe('model_unavailable')
  const { events } = (await service.client.get('/api/timeline')).json
  const { payload } = events.findLast(({ type }: { type: string }) => type === 'turn.failed')
  expect(payload.text).toContain('in Settings')
  expect(payload.text).not.toContain('could not reach')
})

test('stops a model that calls tools without end', async () => {
  const { double, service } = await startWithModel()
  double.answerWith(() => ({ toolCalls: [{ name: 'current_time', arguments: {} }] }))
  const answer = await service.client.post('/api/chat', { content: 'Loop' })
  expect(answer.json.code).toBe('model_too_many_rounds')
  expect(turnRequests(double).length).toBeLessThan(20)
})

test('replaces an opaque compaction item that the service refuses by its text', async () => {
  const { double, service } = await startWithModel()
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

test('turns a long answer into a note, and links to it in the reply', async () => {
  const { double, service } = await startWithModel()
  const long = `# The history of tea\n\n${'Tea is old. '.repeat(800)}`
  double.reply({ text: long })
  const answer = await service.client.post('/api/chat', { content: 'Tell me all about tea' })
  const { notes } = (await service.client.get('/api/notes')).json
  expect(notes).toHaveLength(1)
  expect(notes[0]).toMatchObject({ title: 'The history of tea', source: 'delegate' })
  expect(answer.json.reply.text).toContain(`/notes/${notes[0].id}`)
  expect((await service.client.get(`/api/notes/${notes[0].id}`)).json.content).toBe(long)
})

test('compacts a context over its threshold, and continues the conversation', async () => {
  const { double, service } = await startWithModel()
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

test('keeps a message that arrives during a turn when that turn is compacted', async () => {
  const { double, service } = await startWithModel()
  const both = Promise.withResolvers<void>()
  let isTooLong = true
  // The turn of the second message compacts the chain, and its own message stands before the reply that is covered.
  double.answerWith(({ text }) => {
    if (!text.includes('heliotrope') || !isTooLong)
      return { text: 'Yes.', pause: { at: 'headers', until: both.promise } }
    isTooLong = false
    return { fault: httpFaults.contextTooLong() }
  })
  const tab = await openTab(service)
  tab.send({ type: 'chat.message', content: 'A long story', clientMessageId: 'm1' })
  await tab.hear(({ type }) => type === 'chat.working')
  tab.send({ type: 'chat.message', content: 'The word is heliotrope', clientMessageId: 'm2' })
  await tab.hear(({ event }) => event?.payload.text === 'The word is heliotrope')
  both.resolve()
  await tab.hear(({ event }) => event?.type === 'context.compaction.succeeded')
  await expect.poll(() => tab.heard.filter(({ type }) => type === 'chat.response')).toHaveLength(2)
  await service.client.post('/api/chat', { content: 'What was it?' })
  const input = (turnRequests(double).at(-1)?.text ?? '').replaceAll(/<data .*?<\/data [^>]*>/gs, '')
  expect(input).toContain('heliotrope')
})

test('compacts by a written summary on a server without the compaction endpoint', async () => {
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

test('replaces a compaction item that is no smaller by its text, and does not repeat it', async () => {
  const { double, service } = await startWithModel()
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

test.each(['headers', 0, 1] as const)(
  'asks a model that hangs at %s once, and tells the owner how long it waited',
  async (at) => {
    const { double, service } = await startWithModel({ firstEventMs: 600, idleMs: 1_500 })
    double.answerWith(() => ({ text: 'Never.', fault: { kind: 'hang', at } }))
    const failed = await service.client.post('/api/chat', { content: 'Hello?' })
    expect(failed.json.code).toBe('model_timeout')
    const { events } = (await service.client.get('/api/timeline')).json
    const [ended] = events.filter(({ type }: { type: string }) => type === 'turn.failed')
    const sentence = at === 1 ? 'said nothing for 2 seconds' : 'did not begin to answer within 1 seconds'
    expect(ended.payload.text).toContain(sentence)
    expect(turnRequests(double)).toHaveLength(1)
  },
)
