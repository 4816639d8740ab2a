import { expect, onTestFinished, test } from 'vitest'
import { type ModelDouble, startModelDouble } from '../doubles/model/model-double.ts'
import { httpFaults } from '../doubles/model/script.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService, type WholeService } from '../support/service.ts'

/** A model that answers with the word that the owner asked it to keep, if its input still contains it. */
async function startKeeper(): Promise<ModelDouble> {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerWith(({ text }) => ({
    text: /heliotrope/.test(text) ? 'The word is heliotrope.' : 'I know of no word.',
    usage: { inputTokens: Math.ceil(text.length / 4), outputTokens: 8 },
  }))
  return double
}

const environmentOf = (double: ModelDouble) => ({
  OPENAI_API_KEY: 'sk-test-key-of-the-double',
  OPENAI_BASE_URL: double.url,
  CHAT_MODEL: 'test-model',
})

test('compacts on request, answers a follow-up and reports one successful attempt', async () => {
  const double = await startKeeper()
  const { client } = await startWholeService({ environment: environmentOf(double) })
  expect((await client.get('/api/session/context')).json).toMatchObject({ active: false, canCompact: false })
  expect((await client.post('/api/session/context/compact')).json).toMatchObject({ code: 'cannot_compact' })

  const said = await client.post('/api/chat', { content: 'The word is heliotrope.' })
  expect(said.status, said.text).toBe(200)
  expect(said.json.reply.text).toBe('The word is heliotrope.')
  expect((await client.get('/api/session/context')).json).toMatchObject({
    active: true,
    canCompact: true,
    latestCompaction: null,
  })

  const compacted = await client.post('/api/session/context/compact')
  expect(compacted.status, compacted.text).toBe(200)
  expect(compacted.json).toMatchObject({
    canCompact: true,
    compactionInFlight: false,
    latestCompaction: { source: 'manual' },
    replacementRetained: true,
  })

  for (const question of ['What was it?', 'Again?', 'And once more?']) {
    const answer = await client.post('/api/chat', { content: question })
    expect(answer.json.reply.text).toBe('The word is heliotrope.')
  }
  const report = (await client.get('/api/session/operations?hours=1')).json
  expect(report.context.manualCompaction).toEqual({ attempts: 1, successes: 1, failures: 0, successRate: 1 })
})

test('refuses and counts a compaction during a running turn, including the first', async () => {
  const double = await startKeeper()
  const { client } = await startWholeService({ environment: environmentOf(double) })
  for (const failures of [1, 2]) {
    const requestsBefore = double.requests('/responses').length
    const released = Promise.withResolvers<void>()
    double.reply({ text: 'At last.', pause: { at: 0, until: released.promise } })
    const said = client.post('/api/chat', { content: 'Take your time.' })
    await expect.poll(() => double.requests('/responses').length).toBeGreaterThan(requestsBefore)
    const refused = await client.post('/api/session/context/compact')
    expect([refused.status, refused.json.code]).toEqual([409, 'cannot_compact'])
    expect((await client.get('/api/session/context')).json.canCompact).toBe(false)
    const report = (await client.get('/api/session/operations?hours=1')).json
    expect(report.context.manualCompaction).toMatchObject({ attempts: failures, failures })
    released.resolve()
    expect((await said).status).toBe(200)
  }
})

test('compacts on request while a capsule is written between turns', async () => {
  const double = await startKeeper()
  const environment = { ...environmentOf(double), CAPSULE_TRIGGER_TOKENS: '500' }
  const { client } = await startWholeService({ environment })
  const released = Promise.withResolvers<void>()
  double.reply(
    { text: 'Much was said.', usage: { inputTokens: 900, outputTokens: 900 } },
    { text: 'A capsule of it.', pause: { at: 0, until: released.promise } },
  )
  expect((await client.post('/api/chat', { content: 'Say much.' })).status).toBe(200)
  await expect.poll(() => turnRequests(double).length).toBe(2)
  expect((await client.get('/api/session/context')).json.canCompact).toBe(true)
  const compacted = client.post('/api/session/context/compact')
  released.resolve()
  expect((await compacted).status).toBe(200)
})

test('continues a compacted conversation after a restart and with another provider', async () => {
  const double = await startKeeper()
  const directory = testDirectory()
  const first = await startWholeService({ directory, environment: environmentOf(double) })
  await first.client.post('/api/chat', { content: 'The word is heliotrope.' })
  expect((await first.client.post('/api/session/context/compact')).status).toBe(200)
  await first.stop()

  const other = await startKeeper()
  const second = await startWholeService({
    directory,
    environment: { ...environmentOf(other), CHAT_MODEL: 'another-model' },
  })
  const answer = await second.client.post('/api/chat', { content: 'What was it?' })
  expect(answer.json.reply.text).toBe('The word is heliotrope.')
})

test('answers 502 to a failing compaction, keeps the chain, and reports it after a restart', async () => {
  const double = await startKeeper()
  const directory = testDirectory()
  const first = await startWholeService({ directory, environment: environmentOf(double) })
  await first.client.post('/api/chat', { content: 'The word is heliotrope.' })
  double.reply(...Array.from({ length: 4 }, () => ({ fault: httpFaults.unauthorised() })))
  const failed = await first.client.post('/api/session/context/compact')
  expect(failed.status).toBe(502)
  expect(failed.json.code).toBe('compaction_failed')
  await first.stop()

  const second = await startWholeService({ directory, environment: environmentOf(await startKeeper()) })
  expect(
    (await second.client.get('/api/session/operations?hours=1')).json.context.manualCompaction,
  ).toMatchObject({ attempts: 1, failures: 1 })
  expect((await second.client.post('/api/chat', { content: 'What was it?' })).json.reply.text).toBe(
    'The word is heliotrope.',
  )
})

test('behaves the same with a restart between any two steps', { tags: ['long'] }, async () => {
  const double = await startKeeper()
  const directory = testDirectory()
  const steps: ((service: WholeService) => Promise<void>)[] = [
    async ({ client }) => {
      const said = await client.post('/api/chat', { content: 'The word is heliotrope.' })
      expect(said.json.reply.text).toBe('The word is heliotrope.')
    },
    async ({ client }) => {
      expect((await client.get('/api/session/context')).json).toMatchObject({
        active: true,
        canCompact: true,
      })
    },
    async ({ client }) => {
      const compacted = await client.post('/api/session/context/compact')
      expect(compacted.json).toMatchObject({
        latestCompaction: { source: 'manual' },
        replacementRetained: true,
      })
    },
    async ({ client }) => {
      const answer = await client.post('/api/chat', { content: 'What was it?' })
      expect(answer.json.reply.text).toBe('The word is heliotrope.')
    },
    async ({ client }) => {
      const report = (await client.get('/api/session/operations?hours=1')).json
      expect(report.context.manualCompaction).toMatchObject({ attempts: 1, successes: 1, failures: 0 })
    },
  ]
  for (const step of steps) {
    const service = await startWholeService({ directory, environment: environmentOf(double) })
    await step(service)
    await service.stop()
  }
})

test('keeps the replacement when a follow-up fails, and answers the next one', async () => {
  const double = await startKeeper()
  const { client } = await startWholeService({ environment: environmentOf(double) })
  await client.post('/api/chat', { content: 'The word is heliotrope.' })
  await client.post('/api/session/context/compact')
  double.reply({ fault: httpFaults.outOfQuota() })
  expect((await client.post('/api/chat', { content: 'What was it?' })).status).toBe(502)
  expect((await client.get('/api/session/context')).json).toMatchObject({ replacementRetained: true })
  expect((await client.post('/api/chat', { content: 'And now?' })).json.reply.text).toBe(
    'The word is heliotrope.',
  )
})

test('continues from the replacement’s text with the builtin model', async () => {
  const double = await startKeeper()
  const directory = testDirectory()
  const first = await startWholeService({ directory, environment: environmentOf(double) })
  await first.client.post('/api/chat', { content: 'My locker number is 4711.' })
  double.answerWith(() => ({ text: "## Established facts\nThe owner's locker number is 4711." }))
  expect((await first.client.post('/api/session/context/compact')).status).toBe(200)
  await first.stop()

  const second = await startWholeService({ directory })
  const answer = await second.client.post('/api/chat', { content: 'What is my locker number?' })
  expect(answer.json.reply.text).toContain('4711')
  expect((await second.client.get('/ready')).json.checks.model).toMatchObject({ detail: 'builtin/builtin-1' })
})

test('keeps reporting the channel of a past compaction when the conversation moves on', async () => {
  const owner = '+15551230001'
  const { client } = await startWholeService({ environment: { DEV_ROUTES: '1', OWNER_PHONE_NUMBER: owner } })
  await client.post('/api/chat', { content: 'Good morning' })
  const compacted = await client.post('/api/session/context/compact', {})
  expect(compacted.json).toMatchObject({ channel: 'chat', latestCompaction: { channel: 'chat' } })
  const text = new URLSearchParams({ MessageSid: 'SM1', From: owner, To: '+15559990000', Body: 'Hello' })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  expect((await client.send('POST', '/sms', text.toString(), { headers })).status).toBe(200)
  await expect
    .poll(async () => (await client.get('/api/session/context')).json)
    .toMatchObject({ channel: 'sms', latestCompaction: { ...compacted.json.latestCompaction } })
})
