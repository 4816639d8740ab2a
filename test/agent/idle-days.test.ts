import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { startWholeService } from '../support/service.ts'

const HOUR_MS = 3_600_000
const DAYS = 30

test('asks no model in thirty idle days', { tags: ['long'] }, async () => {
  // From the start, so that the timers of the service are those that the test advances.
  vi.useFakeTimers({
    toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'],
    shouldAdvanceTime: true,
  })
  onTestFinished(() => void vi.useRealTimers())
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerWith(() => ({ text: 'Certainly.', usage: { inputTokens: 1000, outputTokens: 10 } }))
  const clock = { nowMs: Date.parse('2026-03-01T10:20:00.000Z') }
  const { client } = await startWholeService({
    nowMs: () => clock.nowMs,
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: double.url,
      CHAT_MODEL: 'test-model',
      EMBEDDING_MODEL: 'test-embedding',
    },
  })
  for (const content of ['My sister Ada lives in Porto.', 'I like green tea.'])
    expect((await client.post('/api/chat', { content })).status).toBe(200)
  const settled = async () => {
    const before = double.requests().length
    await new Promise((resolve) => setTimeout(resolve, 1500))
    return double.requests().length === before
  }
  await expect.poll(settled).toBe(true)
  const asked = double.requests().length
  expect(asked).toBeGreaterThan(2)
  const reserved = async () => (await client.get('/api/spending')).json.reservedMicros
  await expect.poll(reserved).toBe(0)

  const closed = async () => {
    const { json } = await client.get('/api/timeline')
    return json.events.some(({ type }: { type: string }) => type === 'span.closed')
  }
  expect(await closed()).toBe(false)

  // Every reactor looks at the clock at least once a minute.
  for (let hours = 0; hours < DAYS * 24; hours += 2) {
    clock.nowMs += 2 * HOUR_MS
    await vi.advanceTimersByTimeAsync(61_000)
    for (let turns = 0; turns < 10; turns += 1) await turnOfLoop()
  }
  // The service was at work: it ended the idle interaction.
  expect(await closed()).toBe(true)
  const { json: after } = await client.get('/api/spending')
  expect(after.windows[0]).toMatchObject({ window: 'day', spentMicros: 0 })
  expect(double.requests()).toHaveLength(asked)
  expect((await client.post('/api/chat', { content: 'Are you there?' })).status).toBe(200)
  expect(double.requests().length).toBeGreaterThan(asked)
})
