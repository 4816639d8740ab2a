import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { openTab } from '../support/chat-tab.ts'
import { testDirectory } from '../support/directory.ts'
import { startWholeService } from '../support/service.ts'

const DAY_MS = 24 * 60 * 60_000
const USAGE = { inputTokens: 60, outputTokens: 50 }
/** Memory may read "One" as soon as the budget is renewed. It must not spend it again. */
const LEARNS_NOTHING = { text: '{"candidates":[]}', usage: { inputTokens: 1, outputTokens: 1 } }

test('refuses turns once the daily tokens are spent, across a restart, until a day has passed', async () => {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerWith(() => ({ text: 'Certainly.', usage: USAGE }))
  double.answerMemoryWith(() => LEARNS_NOTHING)
  const directory = testDirectory()
  const startedMs = Date.now()
  let nowMs = startedMs
  const start = (dailyTokens: string) =>
    startWholeService({
      directory,
      nowMs: () => nowMs,
      environment: {
        OPENAI_API_KEY: 'sk-test-key-of-the-double',
        OPENAI_BASE_URL: double.url,
        CHAT_MODEL: 'test-model',
        DAILY_TOKENS: dailyTokens,
      },
    })

  const first = await start('100')
  expect(await first.client.post('/api/chat', { content: 'One' })).toMatchObject({ status: 200 })
  const refused = await first.client.post('/api/chat', { content: 'Two' })
  expect(refused).toMatchObject({
    status: 429,
    headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    json: { code: 'budget_spent', detail: expect.stringContaining('DAILY_TOKENS') },
  })
  const { json: page } = await first.client.get('/api/timeline')
  expect(page.events.findLast(({ type }: { type: string }) => type === 'turn.failed').payload).toMatchObject({
    kind: 'budget',
    text: refused.json.detail,
  })
  expect(turnRequests(double)).toHaveLength(1)
  await first.stop()

  const second = await start('100')
  expect((await second.client.post('/api/chat', { content: 'Three' })).status).toBe(429)
  nowMs = startedMs + DAY_MS + 120_000
  expect((await second.client.post('/api/chat', { content: 'Four' })).status).toBe(200)
  await second.stop()
  expect(turnRequests(double)).toHaveLength(2)

  const unlimited = await start('')
  for (const content of ['Five', 'Six']) {
    expect((await unlimited.client.post('/api/chat', { content })).status).toBe(200)
  }
})

test('runs the activation of a due timer once the spent token budget is renewed', async () => {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerWith(() => ({ text: 'Certainly.', usage: USAGE }))
  double.answerMemoryWith(() => LEARNS_NOTHING)
  let nowMs = Date.now()
  const service = await startWholeService({
    nowMs: () => nowMs,
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: double.url,
      CHAT_MODEL: 'test-model',
      DAILY_TOKENS: '100',
    },
  })
  const { client } = service
  const tab = await openTab(service)
  expect((await client.post('/api/chat', { content: 'One' })).status).toBe(200)
  const isDue = (title: string) => client.post('/api/timers', { title, at: new Date(nowMs).toISOString() })
  await isDue('Take the pills')
  await tab.hear(({ event }) => event?.type === 'signal.raised')
  expect((await client.post('/api/chat', { content: 'Two' })).status).toBe(429)
  expect(turnRequests(double)).toHaveLength(1)

  nowMs += DAY_MS + 120_000
  // Any new fact triggers another look at the budget.
  await isDue('Water the plants')
  await tab.hear(({ event }) => event?.type === 'activation.completed')
  expect(turnRequests(double)[1]?.text).toContain('Take the pills')
  const { json: page } = await client.get('/api/timeline')
  expect(page.events.filter(({ type }: { type: string }) => type === 'activation.failed')).toEqual([])
})

test('counts the tokens of a failed turn against the budget', async () => {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  const round = { toolCalls: [{ name: 'current_time', arguments: {} }], usage: USAGE }
  double.answerWith(() => round)
  const { client } = await startWholeService({
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: double.url,
      CHAT_MODEL: 'test-model',
      DAILY_TOKENS: '1000',
    },
  })
  expect((await client.post('/api/chat', { content: 'One' })).json.code).toBe('model_too_many_rounds')
  expect((await client.post('/api/chat', { content: 'Two' })).json.code).toBe('budget_spent')
})

test('counts the tokens of memory and compaction against the budget', async () => {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerWith(() => ({ text: 'Certainly.', usage: { inputTokens: 1, outputTokens: 1 } }))
  double.answerMemoryWith(() => ({ text: '{"candidates":[]}', usage: USAGE }))
  const service = await startWholeService({
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: double.url,
      CHAT_MODEL: 'test-model',
      DAILY_TOKENS: '100',
    },
  })
  const tab = await openTab(service)
  expect((await service.client.post('/api/chat', { content: 'My cat is called Minka.' })).status).toBe(200)
  await tab.hear(({ event }) => event?.type === 'memory.extraction.completed')
  expect((await service.client.post('/api/chat', { content: 'Two' })).json.code).toBe('budget_spent')
})

test('counts no tokens of the builtin model', async () => {
  const directory = testDirectory()
  const first = await startWholeService({ directory })
  const { json } = await first.client.post('/api/chat', { content: 'Hello' })
  expect(json.usage.inputTokens).toBeGreaterThan(100)
  await first.stop()

  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerWith(() => ({ text: 'Certainly.', usage: USAGE }))
  double.answerMemoryWith(() => LEARNS_NOTHING)
  const environment = {
    OPENAI_API_KEY: 'sk-test-key-of-the-double',
    OPENAI_BASE_URL: double.url,
    CHAT_MODEL: 'test-model',
    DAILY_TOKENS: '100',
  }
  const second = await startWholeService({ directory, environment })
  expect(await second.client.post('/api/chat', { content: 'Hello again' })).toMatchObject({ status: 200 })
})
