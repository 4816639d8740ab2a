import { createDeliveryQueries } from '../../projections/deliveries.ts'
import { createOwnerQueries } from '../../projections/owner.ts'
import type { OutboundPauses } from '../lib/backoff.ts'
import type { Log } from '../lib/log.ts'
import type { Settings } from '../settings/settings.ts'
import type { Storage } from '../storage/storage.ts'
import { createDeliveryOutbox } from './outbox.ts'

/** Wires the delivery of outcomes by chat and webhook. */
export function buildOutbound(options: {
  readonly storage: Storage
  readonly settings: Settings
  /** Additional fields for a webhook about a task. */
  readonly describe: (taskId: string) => Readonly<Record<string, unknown>>
  readonly pauses: OutboundPauses
  readonly nowMs: () => number
  readonly random: () => number
  readonly log: Log
  readonly onFault: (error: unknown) => void
}) {
  const { storage, settings, log } = options
  const { append, ledger, views, onHeadMoved } = storage
  const owner = createOwnerQueries(views)
  return createDeliveryOutbox({
    append,
    ledger,
    deliveries: createDeliveryQueries(views),
    onHeadMoved,
    webhook() {
      const url = settings.get('DELIVERY_WEBHOOK_URL')
      const secret = settings.get('DELIVERY_WEBHOOK_SECRET')
      return url === null || secret === null ? null : { url, secret }
    },
    describe: options.describe,
    isHeld: () => owner.outboundHeld() !== undefined,
    pauses: options.pauses,
    fetch,
    nowMs: options.nowMs,
    random: options.random,
    onFault: options.onFault,
    onFailedAttempt: (fields, message) => log.warn(fields, message),
  })
}
