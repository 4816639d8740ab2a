import { expect, test } from 'vitest'
import { factsOf, moneyOn, testSettings } from '../operations/money/money-harness.ts'
import { testDirectory } from '../support/directory.ts'
import { createTestOutbox } from '../support/outbox.ts'
import { openTestStorage } from '../support/storage.ts'

test.each(['sms', 'webhook'] as const)(
  'leaves a due delivery by %s alone while everything is held, without polling',
  async (channel) => {
    const storage = await openTestStorage(testDirectory())
    const { append } = storage
    const facts = { deliveryId: 'd1', channel }
    await append([
      {
        type: 'delivery.requested',
        actor: 'service',
        facts: { ...facts, taskId: null, maxAttempts: 3 },
        body: { target: '+15550100', text: 'Heliotrope' },
      },
      { type: 'delivery.attempted', actor: 'service', facts: { ...facts, attempt: 1 } },
      {
        type: 'delivery.failed',
        actor: 'service',
        facts: {
          ...facts,
          attempt: 1,
          kind: 'unavailable',
          final: false,
          retryAt: new Date(Date.now() - 60_000).toISOString(),
        },
      },
    ])
    let checks = 0
    createTestOutbox(storage, {
      isHeld() {
        checks += 1
        return true
      },
    }).start()
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(checks).toBeGreaterThan(0)
    expect(checks).toBeLessThan(5)
  },
)

test.each(['sms', 'webhook'] as const)(
  'pauses before the retry of a delivery by %s that made no progress',
  async (channel) => {
    const storage = await openTestStorage(testDirectory())
    await storage.append([
      {
        type: 'delivery.requested',
        actor: 'service',
        facts: { deliveryId: 'd1', channel, taskId: null, maxAttempts: 3 },
        body: { target: '+15550100', text: 'Heliotrope' },
      },
    ])
    const [existing] = storage.ledger.readSeqs([1])
    if (!existing) throw new Error('event not found')
    let checks = 0
    const stuck = { ...storage, append: async () => ({ status: 'duplicate' as const, existing }) }
    const faults: unknown[] = []
    createTestOutbox(stuck, {
      isHeld() {
        checks += 1
        return false
      },
      onFault: (error) => void faults.push(error),
    }).start()
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(checks).toBeLessThan(20)
    expect(faults).toMatchObject([{ name: 'NoProgress' }])
  },
)

test('gives back the money of a text that is halted before it is sent', async () => {
  const storage = await openTestStorage(testDirectory())
  const { settings } = testSettings({ TELEPHONY_PHONE_NUMBER: '+15550101' })
  const money = moneyOn(storage, { settings })
  let isHeld = false
  const outbox = createTestOutbox(storage, {
    settings,
    telephony: { credentials: () => ({}), client: async () => ({}) as never },
    isHeld: () => isHeld,
    async reserve(use, segments) {
      const paid = await money.reserveText(use, segments)
      // The halt comes after the text is prepared.
      isHeld = true
      return paid
    },
  })
  outbox.start()
  await storage.append([
    {
      type: 'delivery.requested',
      actor: 'service',
      channel: 'sms',
      facts: { deliveryId: 'd1', channel: 'sms', taskId: null, maxAttempts: 3 },
      body: { target: '+15550100', text: 'Heliotrope' },
    },
  ])
  await expect.poll(() => factsOf(storage, 'spend.settled')).toMatchObject([{ facts: { amountMicros: 0 } }])
  expect(factsOf(storage, 'delivery.attempted')).toEqual([])
  expect(money.report(1)).toMatchObject({
    reservedMicros: 0,
    windows: [{ spentMicros: 0 }, { spentMicros: 0 }],
  })
})
