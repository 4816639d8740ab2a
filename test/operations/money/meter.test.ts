import { expect, onTestFinished, test, vi } from 'vitest'
import { AllowanceSpent, type Use } from '../../../src/model/port.ts'
import { microsOf, priceTable } from '../../../src/model/prices.ts'
import { mostTokens } from '../../../src/model/tokens.ts'
import { isLoopback } from '../../../src/operations/money/meter.ts'
import { testDirectory } from '../../support/directory.ts'
import { openTestStorage } from '../../support/storage.ts'
import { factsOf, MODEL, moneyOn, testSettings } from './money-harness.ts'

const DAY_MS = 24 * 60 * 60_000
const START_MS = Date.parse('2026-03-01T10:20:00.000Z')

async function start(values: Parameters<typeof testSettings>[0] = {}) {
  const clock = { nowMs: START_MS }
  const nowMs = () => clock.nowMs
  const storage = await openTestStorage(testDirectory(), { nowMs })
  const { settings, set } = testSettings({ ALLOWANCE_DAY: '1', ALLOWANCE_MONTH: '10', ...values })
  const money = moneyOn(storage, { settings, nowMs })
  const spend = async (micros: number, purpose: Use['purpose'] = 'reply', turnId?: string) => {
    const reservation = await money.meter.reserve({ purpose, channel: 'chat', turnId }, MODEL, micros)
    await reservation.settle(micros)
  }
  const levels = () =>
    factsOf(storage, 'allowance.reached').map(({ facts }) => `${facts.window} ${facts.level}`)
  return { clock, storage, money, set, spend, levels }
}

test('tells the owner once at 80 % and once at 100 %, again after the window, and after a raise', async () => {
  const { clock, money, spend, levels } = await start()
  await spend(700_000)
  expect(levels()).toEqual([])
  await spend(100_000)
  await spend(50_000)
  expect(levels()).toEqual(['day 80'])
  for (const micros of [200_000, 300_000]) await expect(spend(micros)).rejects.toThrow(AllowanceSpent)
  expect(levels()).toEqual(['day 80', 'day 100'])

  await money.raise()
  await spend(200_000)
  expect(levels()).toEqual(['day 80', 'day 100'])
  await spend(600_000)
  expect(levels()).toEqual(['day 80', 'day 100', 'day 80'])
  clock.nowMs += DAY_MS + 3_600_000
  await spend(900_000)
  expect(levels()).toEqual(['day 80', 'day 100', 'day 80', 'day 80'])
})

test('stops work in the background before the owner is refused', async () => {
  const { money, spend, levels } = await start()
  await spend(850_000)
  for (const purpose of ['activation', 'learning', 'compaction', 'embedding', 'guest'] as const) {
    expect(money.isSpent(purpose)).toBe(false)
    await expect(spend(100_000, purpose)).rejects.toThrow(AllowanceSpent)
    // Another attempt would be refused too, so that nobody tries.
    expect(money.isSpent(purpose)).toBe(true)
  }
  expect(levels()).toEqual(['day 80'])
  await spend(100_000)
  await money.raise(200_000)
  expect(money.isSpent('activation')).toBe(false)
})

test('leaves a reservation spent that was never settled, and says what is left', async () => {
  const { storage, money, spend } = await start()
  await money.meter.reserve({ purpose: 'reply' }, MODEL, 900_000)
  await expect(spend(200_000)).rejects.toThrow(
    'The allowance of $1.00 for 24 hours is used up: $0.10 is left, and this may cost up to $0.20.',
  )
  expect(money.report(1)).toMatchObject({ reservedMicros: 900_000 })
  expect(factsOf(storage, 'spend.settled')).toEqual([])
})

test('records the truth when more was used than reserved', async () => {
  const { money } = await start()
  const reservation = await money.meter.reserve({ purpose: 'reply' }, MODEL, 100)
  await reservation.settle(250)
  expect(money.report(1).windows[0]).toMatchObject({ spentMicros: 250 })
  expect(money.warnings).toEqual([expect.objectContaining({ amountMicros: 250, reservedMicros: 100 })])
})

test('asks once for the price of an unknown model, and assumes the dearest until it is set', async () => {
  const { storage, money, set } = await start()
  const unknown = { provider: 'local:8080', model: 'mystery' }
  expect(money.meter.priceOf(unknown)).toMatchObject({ input: 5, output: 30, minute: 0.4 })
  for (const micros of [10, 20]) await money.meter.reserve({ purpose: 'reply' }, unknown, micros)
  expect(factsOf(storage, 'price.missing')).toMatchObject([{ facts: { model: unknown } }])
  expect(money.report(1).prices.models).not.toContainEqual(expect.objectContaining({ model: 'mystery' }))

  set.PRICES = JSON.stringify({ models: { mystery: { input: 0, output: 0 } }, textSegment: 0.1 })
  expect(money.meter.priceOf(unknown)).toEqual({ input: 0, output: 0 })
  expect(money.costOf('turn-1', unknown)).toBe(0)
  // The other prices stay as they are.
  expect(money.report(1).prices).toMatchObject({ textSegment: 0.1, callMinute: 0.02 })
  expect(money.meter.priceOf({ provider: 'openai', model: 'gpt-5.5-2026-04-23' })).toMatchObject({ input: 5 })
})

test('reports money by day, channel, purpose and turn', async () => {
  const { clock, money, spend } = await start({ ALLOWANCE_DAY: '5' })
  await spend(1000, 'reply', 'turn-1')
  await spend(200, 'recall', 'turn-1')
  clock.nowMs += DAY_MS
  await spend(5000, 'learning')
  expect(money.costOf('turn-1', MODEL)).toBe(1200)
  expect(money.costOf('turn-2', MODEL)).toBeNull()
  expect(money.report(2)).toMatchObject({
    days: [
      { date: '2026-03-01', micros: 1200 },
      { date: '2026-03-02', micros: 5000 },
    ],
    purposes: [
      { name: 'learning', micros: 5000 },
      { name: 'reply', micros: 1000 },
      { name: 'recall', micros: 200 },
    ],
    channels: [{ name: 'chat', micros: 6200 }],
  })
})

test('pays a call minute by minute, and ends it before a minute that is not affordable', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { storage, money } = await start({ ALLOWANCE_DAY: '1' })
  const models = {
    realtime: { provider: 'openai', model: 'gpt-realtime-2.1' },
    transcription: { provider: 'openai', model: 'gpt-transcribe' },
  }
  expect(money.calls.isSpent('call', models)).toBe(false)
  const spent = vi.fn()
  const call = money.calls.start({ purpose: 'call', channel: 'voice' }, models, spent)
  const reserved = () => factsOf(storage, 'spend.reserved').map(({ facts }) => facts.amountMicros)
  const settled = () => factsOf(storage, 'spend.settled').map(({ facts }) => facts.amountMicros)
  // 40 cents for the model, 2 for the line, 0.6 to transcribe.
  await expect.poll(reserved).toEqual([426_000])

  const usage = { inputTokens: 10_000, outputTokens: 1000, cachedTokens: 8000 }
  call.responded(usage, { input: 1000, cachedInput: 500, output: 900 })
  vi.advanceTimersByTime(50_000)
  await expect.poll(reserved).toEqual([426_000, 426_000])
  // 8,000 cached, 500 of audio, 1,500 of text; 900 spoken, 100 of text.
  await expect.poll(settled).toEqual([26_000 + 3200 + 16_000 + 6000 + 57_600 + 2400])
  expect(spent).not.toHaveBeenCalled()

  call.responded(
    { inputTokens: 0, outputTokens: 5000, cachedTokens: 0 },
    { input: 0, cachedInput: 0, output: 5000 },
  )
  vi.advanceTimersByTime(60_000)
  await expect.poll(settled).toEqual([111_200, 26_000 + 320_000])
  expect(spent).not.toHaveBeenCalled()
  // The fourth minute needs 42.6 cents: 45.7 are spent, and the third is not settled.
  vi.advanceTimersByTime(60_000)
  await expect.poll(() => spent.mock.calls.length).toBe(1)
  vi.advanceTimersByTime(600_000)
  call.end()
  await expect.poll(settled).toEqual([111_200, 346_000, 26_000])
  expect(spent).toHaveBeenCalledTimes(1)
})

test('pays the first minute of a call that ends while the minute is being reserved', async () => {
  const { storage, money } = await start()
  const models = { realtime: null, transcription: { provider: 'openai', model: 'gpt-transcribe' } }
  money.calls.start({ purpose: 'guest', channel: 'voice' }, models, () => undefined).end()
  const settled = () => factsOf(storage, 'spend.settled').map(({ facts }) => facts.amountMicros)
  await expect.poll(settled).toEqual([20_000])
})

test('counts tokens high, and prices them in millionths', () => {
  const english = 'The quick brown fox jumps over the lazy dog. '.repeat(40)
  expect(mostTokens(english)).toBeGreaterThan(english.length / 4)
  expect(mostTokens('x7Kq'.repeat(20))).toBe(80)
  const price = priceTable(null).models['gpt-5.5'] ?? { input: 0, output: 0 }
  expect(microsOf(price, { inputTokens: 1000, outputTokens: 10, cachedTokens: 400 })).toBe(3000 + 200 + 300)
})

test.each([
  ['localhost:11434', true],
  ['127.0.0.1:8080', true],
  ['[::1]:1234', true],
  ['host.docker.internal:11434', true],
  ['host.containers.internal', true],
  ['localhost.example.com', false],
  ['192.168.1.4:11434', false],
])('a service at %s is on this machine, and free: %s', (host, isFree) => {
  expect(isLoopback(host)).toBe(isFree)
})
