import { expect, onTestFinished } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import type { EventType } from '../../ledger/events/catalogue.ts'
import type { AnyEvent } from '../../ledger/reader.ts'
import { createDeliveryQueries } from '../../projections/deliveries.ts'
import { createTextQueries } from '../../projections/texts.ts'
import type { OutboundPauses } from '../../src/outbound/backoff.ts'
import { connectTelephony } from '../../src/phone/line/rest.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { startTelephonyDouble } from '../doubles/telephony/telephony-double.ts'
import { ACCOUNT, AUTH_TOKEN, NUMBER, OWNER } from '../phone/provider.ts'
import { testDirectory } from '../support/directory.ts'
import { createTestOutbox } from '../support/outbox.ts'
import { SHORT_PAUSES } from '../support/service.ts'
import { openTestStorage } from '../support/storage.ts'

export const TEXT = 'The ferry leaves at nine.'

export type OutboxOptions = {
  readonly isConfigured?: boolean
  readonly isHeld?: boolean
  readonly isSpent?: () => boolean
  readonly pauses?: OutboundPauses
  readonly authToken?: string
  readonly publicUrl?: string
  readonly isTrial?: boolean
  /** Awaited before the outbox gets its client. */
  readonly connecting?: () => Promise<unknown>
}

/** An outbox on its own ledger, with a double of the provider and a clock that the test moves. */
export async function openOutbox({
  isConfigured = true,
  isHeld = false,
  isSpent = () => false,
  pauses = SHORT_PAUSES,
  authToken = AUTH_TOKEN,
  publicUrl,
  isTrial = false,
  connecting = async () => undefined,
}: OutboxOptions = {}) {
  const double = await startTelephonyDouble({ accountSid: ACCOUNT, authToken: AUTH_TOKEN, isTrial })
  onTestFinished(() => double.close())
  const storage = await openTestStorage(testDirectory())
  const { append, ledger, views } = storage
  const connect = (password: string) =>
    connectTelephony({ accountSid: ACCOUNT, username: ACCOUNT, password, baseUrl: double.url })
  let client = await connect(authToken)
  let aheadMs = 0
  const warnings: object[] = []
  const faults: unknown[] = []
  const nowMs = () => Date.now() + aheadMs
  const texts = createTextQueries(views)
  const settings: Record<string, string | undefined> = {
    TELEPHONY_PHONE_NUMBER: NUMBER,
    PUBLIC_URL: publicUrl,
  }
  onTestFinished(() => expect(faults).toEqual([]))
  const outbox = createTestOutbox(storage, {
    telephony: {
      async client() {
        const current = client
        await connecting()
        return isConfigured ? current : null
      },
      credentials: () => (isConfigured ? {} : null),
    },
    settings: { get: ((key: string) => settings[key] ?? null) as Settings['get'] },
    isHeld: () => isHeld,
    isSpent,
    pauses,
    nowMs,
    onFault: (error) => void faults.push(error),
    onFailedAttempt: (fields) => void warnings.push(fields),
  })
  const all = <T extends EventType>(type: T) =>
    ledger
      .readAfter(0, 10_000)
      .filter((event): event is Extract<AnyEvent, { type: T }> => event.type === type)
  return {
    append,
    double,
    outbox,
    texts,
    deliveries: createDeliveryQueries(views),
    warnings,
    /** Takes the faults so far. A test with others fails. */
    takeFaults: () => faults.splice(0),
    nowMs,
    all,
    of: (deliveryId: string, type: 'delivery.attempted' | 'sms.sent' | 'delivery.failed') =>
      all(type).filter(({ facts }) => facts.deliveryId === deliveryId),
    ask(deliveryId: string, more: Partial<{ target: string; text: string; turnId: string }> = {}) {
      const { target = OWNER, text = TEXT, turnId } = more
      return append([requested(deliveryId, { target, text }, turnId)])
    },
    /** Records an attempt without an outcome, as a crash leaves it. */
    attempt: (deliveryId: string) =>
      append([
        {
          type: 'delivery.attempted',
          actor: 'service',
          channel: 'sms',
          key: `delivery:${deliveryId}:attempt:1`,
          facts: { deliveryId, channel: 'sms', attempt: 1 },
        },
      ]),
    /** Moves the clock ahead and wakes the outbox. */
    pass(ms: number) {
      aheadMs += Math.max(0, ms)
      outbox.wake()
    },
    async signInWith(password: string) {
      client = await connect(password)
      outbox.settingsChanged()
    },
    /** The type of the outcome, once there is one. */
    async ended(deliveryId: string): Promise<string> {
      const endings = () =>
        ledger
          .readAfter(0, 10_000)
          .flatMap((event) =>
            (event.type === 'delivery.succeeded' ||
              event.type === 'delivery.unknown' ||
              (event.type === 'delivery.failed' && event.facts.final)) &&
            event.facts.deliveryId === deliveryId
              ? [event.type]
              : [],
          )
      await expect.poll(endings, { interval: 5 }).toHaveLength(1)
      return endings()[0] ?? ''
    },
  }
}

const requested = (
  deliveryId: string,
  body: { readonly target: string; readonly text: string },
  turnId: string | undefined,
): NewEvent => ({
  type: 'delivery.requested',
  actor: 'delegate',
  channel: 'sms',
  conversationId: 'c',
  turnId,
  facts: { deliveryId, channel: 'sms', taskId: null, maxAttempts: 3 },
  body,
})
