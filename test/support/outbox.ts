import { onTestFinished } from 'vitest'
import { createDeliveryQueries } from '../../projections/deliveries.ts'
import { createTextQueries } from '../../projections/texts.ts'
import { type OutboundPauses, outboundPauses } from '../../src/outbound/backoff.ts'
import { createOutbox } from '../../src/outbound/outbox.ts'
import { createSmsTransport } from '../../src/outbound/sms.ts'
import { createWebhookTransport } from '../../src/outbound/webhook.ts'
import type { Settings } from '../../src/settings/settings.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { newId } from './writer.ts'

type SmsOptions = Parameters<typeof createSmsTransport>[0]
type OutboxOptions = Parameters<typeof createOutbox>[0]

/** An outbox on this storage, closed at the end of the test. Nothing is configured unless `more` says so. */
export function createTestOutbox(
  { append, ledger, views, onHeadMoved }: Pick<Storage, 'append' | 'ledger' | 'views' | 'onHeadMoved'>,
  more: Partial<SmsOptions & OutboxOptions> & { readonly pauses?: OutboundPauses } = {},
) {
  const common = { ledger, pauses: outboundPauses, nowMs: Date.now, ...more }
  const settings = more.settings ?? { get: (() => null) as Settings['get'] }
  const sms = createSmsTransport({
    texts: createTextQueries(views),
    settings,
    telephony: { credentials: () => null, client: async () => null },
    isSpent: () => false,
    reserve: async () => ({ settle: async () => undefined }),
    newId,
    ...common,
  })
  const webhook = createWebhookTransport({ settings, describe: () => ({}), nowMs: common.nowMs })
  const outbox = createOutbox({
    append,
    deliveries: createDeliveryQueries(views),
    onHeadMoved,
    transports: { sms, webhook, push: webhook },
    isHeld: () => false,
    isObsolete: () => false,
    random: () => 0.5,
    onFault(error) {
      throw error
    },
    onFailedAttempt: () => undefined,
    ...common,
  })
  onTestFinished(() => outbox.close(60_000))
  return {
    start: outbox.start,
    wake: outbox.wake,
    settled: outbox.settled,
    close: outbox.close,
    claimReply: sms.claimReply,
    settingsChanged() {
      sms.settingsChanged()
      outbox.wake()
    },
  }
}
