import { expect, onTestFinished, test } from 'vitest'
import { startModelDouble } from '../doubles/model/model-double.ts'
import { turnRequests } from '../doubles/model/turn-requests.ts'
import { openTab } from '../support/chat-tab.ts'
import { startWholeService } from '../support/service.ts'

const DAY_MS = 24 * 60 * 60_000
/** 10 cents at 100 dollars for a million tokens. */
const USAGE = { inputTokens: 1000, outputTokens: 0, cachedTokens: 0 }
const PRICES = JSON.stringify({ models: { 'test-model': { input: 100, output: 0.01 } } })

/** Reaches this machine too, but is no address of it that the service knows. */
const ELSEWHERE = '0.0.0.0'

async function start(environment: Readonly<Record<string, string>> = {}, host = '127.0.0.1') {
  const double = await startModelDouble()
  onTestFinished(() => double.close())
  double.answerWith(() => ({ text: 'Certainly.', usage: USAGE }))
  const clock = { nowMs: Date.parse('2026-03-01T10:20:00.000Z') }
  const service = await startWholeService({
    nowMs: () => clock.nowMs,
    environment: {
      OPENAI_API_KEY: 'sk-test-key-of-the-double',
      OPENAI_BASE_URL: double.url.replace('127.0.0.1', host),
      CHAT_MODEL: 'test-model',
      PRICES,
      ...environment,
    },
  })
  const { client } = service
  const say = (content: string) => client.post('/api/chat', { content })
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape.
  const events = async (type: string): Promise<any[]> => {
    const { json } = await client.get('/api/timeline?limit=5000')
    return json.events.filter((event: { type: string }) => event.type === type)
  }
  const spending = async () => (await client.get('/api/spending?days=2')).json
  return { double, clock, service, client, say, events, spending }
}

test('pays each request, and shows what a reply cost', async () => {
  const { double, client, say, events, spending } = await start()
  const { json } = await say('One')
  expect(turnRequests(double)[0]?.body.max_output_tokens).toBe(16_000)
  const cost = async () => (await client.get(`/api/turns/${json.turnId}`)).json.costMicros
  await expect.poll(cost).toBe(100_000)
  await expect.poll(async () => (await events('memory.extraction.completed')).length).toBe(1)
  const [reserved] = await events('spend.reserved')
  expect(reserved).toMatchObject({
    channel: 'chat',
    turnId: json.turnId,
    internal: true,
    payload: { purpose: 'reply', model: { model: 'test-model' } },
  })
  expect(reserved.payload.amountMicros).toBeGreaterThan(100_000)
  await expect.poll(async () => (await spending()).reservedMicros).toBe(0)
  const report = await spending()
  expect(report.purposes.map(({ name }: { name: string }) => name)).toEqual(['reply', 'learning'])
  expect(report.windows[0]).toMatchObject({ window: 'day', limitMicros: 20_000_000 })
})

test('asks at the end of the allowance, and goes on once the owner allows more', async () => {
  const { double, client, say, events, spending } = await start({ ALLOWANCE_DAY: '1.5' })
  double.answerWith(() => ({ text: 'Certainly.', usage: { ...USAGE, inputTokens: 13_000 } }))
  expect((await say('One')).status).toBe(200)
  await expect.poll(async () => (await spending()).reservedMicros).toBe(0)
  const requests = double.requests().length
  const refused = await say('Two')
  expect(refused).toMatchObject({
    status: 429,
    json: {
      code: 'allowance_spent',
      detail: expect.stringContaining('The allowance of $1.50 for 24 hours is used up'),
    },
  })
  expect((await events('turn.failed')).at(-1)).toMatchObject({
    internal: false,
    payload: { kind: 'allowance', text: refused.json.detail },
  })
  expect(await events('allowance.reached')).toMatchObject([
    { payload: { window: 'day', level: 80 } },
    { payload: { window: 'day', level: 100, limitMicros: 1_500_000 } },
  ])
  // Neither the refused message nor learning asked the model.
  expect(double.requests()).toHaveLength(requests)
  expect(await events('memory.extraction.failed')).toEqual([])

  expect((await client.post('/api/allowance/raise', { amountMicros: 5_000_000 })).status).toBe(200)
  expect((await say('Two')).status).toBe(200)
  expect((await spending()).windows[0]).toMatchObject({ limitMicros: 6_500_000 })
  // The backlog of learning goes on by itself.
  await expect.poll(async () => (await events('memory.extraction.completed')).length).toBeGreaterThan(0)
})

test('keeps a due reminder for later without counting attempts', async () => {
  const { double, clock, service, say, events } = await start({ ALLOWANCE_DAY: '1.5' })
  double.answerWith(() => ({ text: 'Certainly.', usage: { ...USAGE, inputTokens: 13_000 } }))
  await say('One')
  await expect.poll(async () => (await events('spend.settled')).length).toBe(1)
  const asked = turnRequests(double).length
  const remind = (title: string) =>
    service.client.post('/api/timers', { title, at: new Date(clock.nowMs).toISOString() })
  const tab = await openTab(service)
  await remind('Take the pills')
  await tab.hear(({ event }) => event?.type === 'activation.failed')
  expect(await events('activation.failed')).toMatchObject([
    { payload: { kind: 'allowance', attempt: 0, final: false } },
  ])
  await say('Two')
  expect(turnRequests(double)).toHaveLength(asked)
  expect(await events('activation.failed')).toHaveLength(1)

  clock.nowMs += DAY_MS + 3_600_000
  await remind('Water the plants')
  await tab.hear(({ event }) => event?.type === 'activation.completed')
  expect(turnRequests(double).at(-1)?.text).toContain('Take the pills')
})

test('takes a server on this machine to cost nothing until the owner sets its price', async () => {
  const { say, events, spending } = await start({ PRICES: '{}' })
  expect((await say('One')).status).toBe(200)
  expect([...(await events('price.missing')), ...(await events('spend.reserved'))]).toEqual([])
  expect((await spending()).prices.models[0]).toMatchObject({ price: { input: 0, output: 0 } })
})

test('asks once for the price of an unknown model elsewhere', async () => {
  const { say, events, spending } = await start({ PRICES: '{}' }, ELSEWHERE)
  for (const content of ['One', 'Two']) expect((await say(content)).status).toBe(200)
  expect(await events('price.missing')).toMatchObject([
    { internal: false, payload: { model: { model: 'test-model' } } },
  ])
  const { prices } = await spending()
  expect(prices.models[0]).toEqual({ model: 'test-model', inUse: true, listed: null, price: null })
  expect(prices.models.slice(1)).not.toContainEqual(expect.objectContaining({ inUse: true }))
})

test('marks no price as in use while the builtin model answers', async () => {
  const { client } = await startWholeService()
  const { models } = (await client.get('/api/spending?days=1')).json.prices
  expect(models.length).toBeGreaterThan(0)
  expect(models).not.toContainEqual(expect.objectContaining({ inUse: true }))
})

test('records nothing for a model that costs nothing', async () => {
  const { double, client, say, events } = await start({
    PRICES: JSON.stringify({ models: { 'test-model': { input: 0, output: 0 } } }),
    ALLOWANCE_DAY: '0',
  })
  const { json } = await say('One')
  expect((await client.get(`/api/turns/${json.turnId}`)).json.costMicros).toBe(0)
  expect(turnRequests(double)[0]?.body.max_output_tokens).toBeUndefined()
  expect(await events('spend.reserved')).toEqual([])
})
