import { expect, test } from 'vitest'
import type { Fault } from '../doubles/telephony/telephony-double.ts'
import { AUTH_TOKEN, OWNER } from '../phone/provider.ts'
import { openOutbox, TEXT } from './outbox-harness.ts'

const HOUR_MS = 3_600_000
const PAUSES = { firstRetryMs: 2_000, lookUpAfterMs: [0, 1_000, 4_000] } as const
const DOWN: Fault = { type: 'refuse', status: 503, code: 20503 }
const OTHER = '+14155550177'

type Outbox = Awaited<ReturnType<typeof openOutbox>>

/** Advances the clock from retry to retry until the text has ended, or to `untilMs`. */
async function passRetries({ pass, nowMs, deliveries }: Outbox, deliveryId: string, untilMs: number) {
  for (;;) {
    const { endedAt = null, retryAt = null } = deliveries.byId(deliveryId) ?? {}
    if (endedAt !== null || (retryAt !== null && Date.parse(retryAt) > untilMs)) return
    if (retryAt !== null) pass(Date.parse(retryAt) - nowMs())
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('sends a text once after an outage of 20 hours, and shows one notice', async () => {
  const outbox = await openOutbox({ pauses: PAUSES })
  const { double, ask, ended, of, all, nowMs, warnings, texts } = outbox
  double.setOutage(DOWN)
  const startMs = nowMs()
  outbox.outbox.start()
  await ask('d')
  await passRetries(outbox, 'd', startMs + 20 * HOUR_MS)
  const attempts = of('d', 'delivery.attempted').length
  expect(attempts).toBeGreaterThan(20)
  expect(attempts).toBeLessThan(60)
  expect(all('sms.delayed')).toMatchObject([{ facts: { deliveryId: 'd', kind: 'unavailable' } }])
  expect(texts.delayed()).toMatchObject({ count: 1, kind: 'unavailable' })
  expect(texts.lastOutcome()).toMatchObject({ ok: 0, kind: 'unavailable' })
  // Each attempt logs one line, without the number or the text.
  await expect.poll(() => warnings.length).toBe(attempts)
  expect(warnings[0]).toMatchObject({ deliveryId: 'd', attempt: 1, kind: 'unavailable' })
  expect(JSON.stringify(warnings)).not.toContain(OWNER)
  expect(JSON.stringify(warnings)).not.toContain(TEXT)

  double.setOutage(null)
  outbox.pass(HOUR_MS)
  expect(await ended('d')).toBe('delivery.succeeded')
  expect(double.messages).toHaveLength(1)
  // The views follow the ledger.
  await outbox.outbox.settled()
  expect(texts.delayed()).toBeNull()
  expect(texts.lastOutcome()).toMatchObject({ ok: 1 })
  expect(all('signal.dismissed')).toMatchObject([{ facts: { reason: 'superseded' } }])
})

test('fails a text that cannot be sent for a day', async () => {
  const outbox = await openOutbox({ pauses: PAUSES })
  outbox.double.setOutage(DOWN)
  const startMs = outbox.nowMs()
  outbox.outbox.start()
  await outbox.ask('d')
  await passRetries(outbox, 'd', startMs + 48 * HOUR_MS)
  expect(await outbox.ended('d')).toBe('delivery.failed')
  expect(outbox.nowMs() - startMs).toBeGreaterThan(23.9 * HOUR_MS)
  expect(outbox.nowMs() - startMs).toBeLessThan(24.1 * HOUR_MS)
  expect(outbox.all('sms.failed')).toMatchObject([{ facts: { kind: 'unavailable' }, body: { text: TEXT } }])
})

test.each([429, 503])('waits as long as the Retry-After of a %i', async (status) => {
  const { double, outbox, ask, all, nowMs } = await openOutbox({ pauses: PAUSES })
  double.fail({ type: 'refuse', status, code: 20_000 + status, retryAfter: 600 })
  outbox.start()
  await ask('d')
  await expect.poll(() => all('delivery.failed')).toHaveLength(1)
  const waitMs = Date.parse(all('delivery.failed')[0]?.facts.retryAt ?? '') - nowMs()
  expect(waitMs).toBeGreaterThan(590_000)
  expect(waitMs).toBeLessThanOrEqual(600_000)
})

test('reports rejected credentials at once and sends the text with the next ones', async () => {
  const { double, outbox, ask, ended, of, all, pass, signInWith } = await openOutbox({
    pauses: PAUSES,
    authToken: 'stale',
  })
  outbox.start()
  await ask('d')
  await expect.poll(() => all('sms.delayed')).toMatchObject([{ facts: { kind: 'credentials' } }])
  pass(10 * 60_000)
  await new Promise((resolve) => setTimeout(resolve, 150))
  expect(of('d', 'delivery.attempted')).toHaveLength(1)
  await signInWith(AUTH_TOKEN)
  expect(await ended('d')).toBe('delivery.succeeded')
  expect(double.messages).toHaveLength(1)
})

test('keeps the order of texts to a number without holding up other numbers', async () => {
  const { double, outbox, ask, ended, pass } = await openOutbox({ pauses: PAUSES })
  double.fail(DOWN)
  outbox.start()
  await ask('first', { text: 'At noon.' })
  await ask('second', { text: 'In the evening.' })
  await ask('other', { text: 'For somebody else.', target: OTHER })
  expect(await ended('other')).toBe('delivery.succeeded')
  expect(double.messages).toHaveLength(1)
  pass(60_000)
  expect(await ended('second')).toBe('delivery.succeeded')
  expect(double.messages.map(({ body }) => body)).toEqual([
    'For somebody else.',
    'At noon.',
    'In the evening.',
  ])
})

test('looks up texts left unanswered by an outage until the list responds, and sends them once', async () => {
  const { double, outbox, ask, ended, pass, nowMs, takeFaults } = await openOutbox({ pauses: PAUSES })
  double.setOutage({ type: 'accept_then_cut' })
  outbox.start()
  await ask('d')
  const startMs = nowMs()
  const looks = () => double.requests.filter(({ method }) => method === 'GET').length
  while (nowMs() - startMs < 5 * HOUR_MS) {
    const before = looks()
    const advance = () => {
      pass(10 * 60_000)
      return looks()
    }
    await expect.poll(advance, { interval: 5 }).toBeGreaterThan(before)
  }
  double.setOutage(null)
  // The last look sets the time of the next one when it ends.
  await outbox.settled()
  pass(HOUR_MS)
  expect(await ended('d')).toBe('delivery.succeeded')
  expect(double.messages).toHaveLength(1)
  expect(double.requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
  expect(new Set(takeFaults().map((fault) => (fault as Error).name))).toEqual(new Set(['OutsideFailure']))
})

test('delays texts over the daily budget until there is room, with one notice', async () => {
  let isSpent = true
  const { double, outbox, ask, ended, all, pass } = await openOutbox({ isSpent: () => isSpent })
  outbox.start()
  await ask('first')
  await ask('second', { target: OTHER })
  await expect.poll(() => all('sms.delayed')).toMatchObject([{ facts: { kind: 'budget' } }])
  // The attempt that delayed it ends just after its facts.
  await outbox.settled()
  isSpent = false
  pass(HOUR_MS)
  expect(await ended('first')).toBe('delivery.succeeded')
  expect(await ended('second')).toBe('delivery.succeeded')
  expect(all('sms.delayed')).toHaveLength(1)
  expect(double.messages).toHaveLength(2)
})

test('fails texts over the daily budget after a day', async () => {
  const { outbox, ask, ended, all, pass } = await openOutbox({ isSpent: () => true })
  outbox.start()
  await ask('d')
  await expect.poll(() => all('sms.delayed')).toHaveLength(1)
  await outbox.settled()
  pass(25 * HOUR_MS)
  expect(await ended('d')).toBe('delivery.failed')
  expect(all('sms.failed')).toMatchObject([{ facts: { kind: 'budget' } }])
})

test('sends a text with the newest settings if they change while it connects', async () => {
  const gate = Promise.withResolvers<void>()
  let connections = 0
  const { outbox, ask, ended, signInWith } = await openOutbox({
    authToken: 'stale',
    pauses: PAUSES,
    async connecting() {
      connections += 1
      if (connections === 1) await gate.promise
    },
  })
  outbox.start()
  await ask('d')
  await expect.poll(() => connections).toBe(1)
  await signInWith(AUTH_TOKEN)
  gate.resolve()
  expect(await ended('d')).toBe('delivery.succeeded')
})

test('connects again after a connection that failed', async () => {
  let connections = 0
  const { outbox, ask, ended, takeFaults } = await openOutbox({
    async connecting() {
      connections += 1
      if (connections === 1) throw new Error('no such module')
    },
  })
  outbox.start()
  await ask('d')
  expect(await ended('d')).toBe('delivery.succeeded')
  expect(takeFaults()).toHaveLength(1)
})
