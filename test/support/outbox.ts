import { onTestFinished } from 'vitest'
import { createDeliveryQueries } from '../../projections/deliveries.ts'
import { createTextQueries } from '../../projections/texts.ts'
import { outboundPauses } from '../../src/lib/backoff.ts'
import { createDeliveryOutbox } from '../../src/outbound/outbox.ts'
import { createSmsOutbox } from '../../src/sms/outbox.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { newId } from './writer.ts'

/** Starts the outbox of an unconfigured channel, which fails due messages. Faults fail the test. */
export function startUnconfiguredOutbox(
  storage: Storage,
  channel: 'sms' | 'webhook',
  isHeld: () => boolean = () => false,
  onFault = (error: unknown): void => {
    throw error
  },
): void {
  const { append, ledger, views, onHeadMoved } = storage
  const common = {
    append,
    ledger,
    onHeadMoved,
    isHeld,
    pauses: outboundPauses,
    nowMs: Date.now,
    random: Math.random,
    onFault,
    onFailedAttempt: () => undefined,
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
        })
  onTestFinished(() => outbox.close(60_000))
  outbox.start()
}
