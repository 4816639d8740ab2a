import { expect, onTestFinished, test } from 'vitest'
import { createDeliveryQueries } from '../../projections/deliveries.ts'
import { createTextQueries } from '../../projections/texts.ts'
import { createSmsOutbox } from '../../src/channels/sms/outbox.ts'
import { createDeliveryOutbox } from '../../src/delivery/outbox.ts'
import { outboundPauses } from '../../src/outbound/backoff.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { newId } from '../support/writer.ts'

test.each(['sms', 'webhook'] as const)(
  'a delivery by %s that is due while everything is held is left alone, not looked for again and again',
  async (channel) => {
    const storage = await openTestStorage(testDirectory())
    const { append, ledger, views, onHeadMoved } = storage
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
    let looks = 0
    const common = {
      append,
      ledger,
      onHeadMoved,
      isHeld: () => {
        looks += 1
        return true
      },
      pauses: outboundPauses,
      nowMs: Date.now,
      random: Math.random,
      onFault: (error: unknown) => {
        throw error
      },
    }
    const outbox =
      channel === 'webhook'
        ? createDeliveryOutbox({
            ...common,
            deliveries: createDeliveryQueries(views),
            webhook: () => null,
            describe: () => ({}),
            fetch,
          })
        : createSmsOutbox({
            ...common,
            texts: createTextQueries(views),
            client: async () => null,
            ownNumber: () => null,
            statusCallback: () => null,
            partyOf: () => 'owner',
            isSpent: () => false,
            newId,
            pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
          })
    onTestFinished(() => outbox.close())
    outbox.start()
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(looks).toBeGreaterThan(0)
    expect(looks).toBeLessThan(5)
  },
)
