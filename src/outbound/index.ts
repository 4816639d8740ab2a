import { createDeliveryQueries } from '../../projections/deliveries.ts'
import { createNotificationQueries } from '../../projections/notifications.ts'
import { createOwnerQueries } from '../../projections/owner.ts'
import { createTextQueries, type DelayedTexts } from '../../projections/texts.ts'
import type { Log } from '../lib/log.ts'
import type { PushSubscriptions } from '../settings/push-subscriptions.ts'
import type { Settings } from '../settings/settings.ts'
import type { Storage } from '../storage/storage.ts'
import { giveUpAt, type OutboundPauses } from './backoff.ts'
import { createLostTexts } from './lost-texts.ts'
import { createOutbox } from './outbox.ts'
import { createPushTransport, type PushConnect } from './push.ts'
import { createSendAgain } from './send-again.ts'
import { createSmsTransport, type ReserveText, type Telephony } from './sms.ts'
import { createWebhookTransport } from './webhook.ts'

export type Outbound = ReturnType<typeof buildOutbound>
export type WaitingTexts = DelayedTexts & { readonly until: string }

/** Wires the outbox with its transports, and the texts that did not arrive. */
export function buildOutbound(options: {
  readonly storage: Storage
  readonly settings: Settings
  readonly telephony: Telephony
  /** Additional fields for a webhook about a task. */
  readonly describe: (taskId: string) => Readonly<Record<string, unknown>>
  /** Whether the daily budget of texts is exhausted. */
  readonly textsAreSpent: () => boolean
  readonly isHalted: () => boolean
  /** Whether nobody needs to get a notification any more. */
  readonly isObsolete: (notification: number, channel: 'sms' | 'push') => boolean
  /** Reserves what a text costs; null if it is not affordable. */
  readonly reserveText: ReserveText
  readonly pauses: OutboundPauses
  readonly subscriptions: PushSubscriptions
  /** How to connect to push services, instead of to public addresses only. */
  readonly pushConnect?: PushConnect | undefined
  readonly newId: () => string
  readonly nowMs: () => number
  readonly random: () => number
  readonly log: Log
  readonly onFault: (error: unknown) => void
}) {
  const { storage, settings, telephony, log, onFault } = options
  const { views } = storage
  const texts = createTextQueries(views)
  const deliveries = createDeliveryQueries(views)
  const owner = createOwnerQueries(views)
  const notifications = createNotificationQueries(views)

  const sms = createSmsTransport({
    ...options,
    ...storage,
    texts,
    isSpent: options.textsAreSpent,
    reserve: options.reserveText,
  })
  const push = createPushTransport({
    ...options,
    connect: options.pushConnect,
    kindOf: (seq) => notifications.bySeq(seq)?.kind,
    publicUrl: () => settings.get('PUBLIC_URL'),
  })
  const outbox = createOutbox({
    ...options,
    ...storage,
    deliveries,
    transports: { sms, webhook: createWebhookTransport(options), push },
    isHeld: () => options.isHalted() || owner.outboundHeld() !== undefined,
    onFailedAttempt: (fields, message) => log.warn(fields, message),
  })
  const lostTexts = createLostTexts({ ...options, ...storage, texts })

  /** Loads the provider's SDK: it blocks the thread for 100 ms, which a call must not feel. */
  function connect(): void {
    telephony.client().catch(onFault)
  }
  const unsubscribe = settings.subscribe((keys) => {
    if (![...keys].some((key) => key.startsWith('TELEPHONY_'))) return
    connect()
    sms.settingsChanged()
    outbox.wake()
  })

  return {
    start() {
      connect()
      outbox.start()
      lostTexts.start()
    },
    /** Begins nothing more, and waits about `graceMs` at most for attempts in progress. */
    async close(graceMs: number) {
      unsubscribe()
      await outbox.close(graceMs)
      await lostTexts.close()
    },
    claimReply: sms.claimReply,
    /** The delayed texts, and how long the first of them is retried; null if there are none. */
    waitingTexts(): WaitingTexts | null {
      const delayed = texts.delayed()
      return delayed && { ...delayed, until: giveUpAt(delayed.since) }
    },
    sendAgain: createSendAgain({ ...options, ...storage, deliveries }),
  }
}
