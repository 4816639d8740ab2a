import { createCallQueries } from '../../projections/calls.ts'
import { createDeliveryQueries } from '../../projections/deliveries.ts'
import { createOwnerQueries } from '../../projections/owner.ts'
import { createTextQueries, type DelayedTexts } from '../../projections/texts.ts'
import type { TurnRow } from '../../projections/turns.ts'
import { createAttention } from '../agent/attention.ts'
import type { Placement } from '../agent/conversation/placement.ts'
import type { Foundation } from '../foundation.ts'
import type { Log } from '../lib/log.ts'
import type { Budgets } from '../operations/budgets.ts'
import type { GuestBudget } from '../operations/guest-budget.ts'
import { giveUpAt, type OutboundPauses, outboundPauses } from '../outbound/backoff.ts'
import type { TelephonyApi } from '../phone/line/api.ts'
import { isWithheld, ownerNumbersOf } from '../phone/line/party.ts'
import type { Settings } from '../settings/settings.ts'
import type { Storage } from '../storage/storage.ts'
import { createSmsInbox, type IncomingText } from './inbox.ts'
import { createLostTexts } from './lost-texts.ts'
import { createSmsOutbox } from './outbox.ts'
import { createSendAgain, type SendAgain } from './send-again.ts'

/** How long a webhook waits for a reply. The provider would wait longer. */
const MARKUP_REPLY_MS = 1_500

export type TextOutcome =
  /** `reply` goes into the markup; null if there is none, or if it is sent by the REST API. */
  | { readonly status: 'taken'; readonly reply: string | null }
  /** Nothing is recorded or answered. The caller counts it. */
  | { readonly status: 'over_budget' }

export type Texts = {
  /** Takes a text within two seconds, however slow the model is. */
  receive(text: IncomingText): Promise<TextOutcome>
  statusReported(report: {
    readonly messageSid: string
    readonly status: string
    readonly errorCode: number | null
  }): Promise<void>
  /** The delayed texts, and how long the first of them is retried; null if there are none. */
  waiting(): WaitingTexts | null
  sendAgain: SendAgain
  start(): void
  close(graceMs: number): Promise<void>
}

export type WaitingTexts = DelayedTexts & { readonly until: string }

/** The events with the words of a guest's number, in texts and calls. */
export function createGuestWordSeqs({ views }: Pick<Storage, 'views'>) {
  const calls = createCallQueries(views)
  const texts = createTextQueries(views)
  /** Empty for a withheld number, which many people share. */
  return (number: string, limit: number) =>
    isWithheld(number)
      ? []
      : [...calls.guestWordSeqs(number, limit), ...texts.guestWordSeqs(number, limit)]
          .sort((a, b) => a - b)
          .slice(-limit)
}

/** Wires text messages: inbox, outbox, and the turns of guests, which run beside the owner's. */
export function buildTexts(options: {
  readonly storage: Storage
  readonly settings: Settings
  readonly placement: Placement
  readonly telephony: TelephonyApi
  readonly pauses?: OutboundPauses | undefined
  readonly turnById: (turnId: string) => TurnRow | undefined
  readonly unfinishedTurns: () => TurnRow[]
  readonly runGuestTurn: (turn: TurnRow, signal: AbortSignal) => Promise<void>
  readonly guestBudget: GuestBudget
  readonly budgets: Pick<Budgets, 'textsAreSpent'>
  readonly newId: () => string
  readonly nowMs: () => number
  /** 0..1, for the jitter of retries. */
  readonly random: () => number
  readonly log: Log
  readonly faultsOf: Foundation['faultsOf']
}): Texts {
  const { storage, settings, telephony, turnById, nowMs, log } = options
  const { append, ledger, views, onHeadMoved } = storage
  const queries = createTextQueries(views)
  const owner = createOwnerQueries(views)
  const ownerNumbers = () => ownerNumbersOf(settings)
  const replyBy = (to: string) => {
    const from = settings.get('TELEPHONY_PHONE_NUMBER') ?? to
    return telephony.credentials() !== null && from !== '' ? 'rest' : 'markup'
  }

  const inbox = createSmsInbox({
    append,
    placement: options.placement,
    texts: queries,
    isRecorded: (key) => ledger.rowByKey(key) !== undefined,
    guestIsSpent: options.guestBudget.isSpent,
    replyBy,
    newId: options.newId,
  })
  const outbox = createSmsOutbox({
    append,
    ledger,
    texts: queries,
    onHeadMoved,
    client: telephony.client,
    ownNumber: () => settings.get('TELEPHONY_PHONE_NUMBER'),
    statusCallback() {
      const publicUrl = settings.get('PUBLIC_URL')
      return publicUrl === null ? null : `${publicUrl}/sms/status`
    },
    partyOf: (number) => (ownerNumbers().includes(number) ? 'owner' : 'guest'),
    newId: options.newId,
    isHeld: () => owner.outboundHeld() !== undefined,
    isSpent: options.budgets.textsAreSpent,
    nowMs,
    random: options.random,
    pauses: options.pauses ?? outboundPauses,
    onFault: options.faultsOf('texts', 'a text could not be sent'),
    onFailedAttempt: (fields, message) => log.warn(fields, message),
  })
  const unsubscribe = settings.subscribe((keys) => {
    if ([...keys].some((key) => key.startsWith('TELEPHONY_'))) outbox.settingsChanged()
  })

  const lostTexts = createLostTexts({
    append,
    ledger,
    texts: queries,
    onHeadMoved,
    newId: options.newId,
    onFault: (error) => log.error({ err: error }, 'a lost text could not be told of'),
  })

  const guests = createAttention({
    waitingTurns: () =>
      options.unfinishedTurns().filter(({ party, trigger }) => party === 'guest' && trigger === 'sms'),
    wakingSignals: () => [],
    hasInterrupt: () => false,
    nextRetryAtMs: () => null,
    onHeadMoved,
    areas: ['sms'],
    async runTurn(turn, signal) {
      await options.runGuestTurn(turn, signal)
      const ended = turnById(turn.turnId)
      const { conversationId, spanId } = turn
      if (!spanId || !ended || ended.endedSeq === null) return
      await append([
        {
          type: 'span.closed',
          actor: 'service',
          channel: 'sms',
          conversationId,
          spanId,
          key: `span-closed:${spanId}`,
          facts: { reason: ended.status === 'completed' ? 'completed' : 'failed' },
        },
      ])
    },
    runActivation: async () => undefined,
    afterTurn: async () => undefined,
    recover: async () => undefined,
    nowMs,
    onFault: options.faultsOf('guests', "a stranger's turn failed"),
  })

  /** Resolves when the turn has ended, or the time is over. */
  function endOf(turnId: string): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(finish, MARKUP_REPLY_MS)
      const unsubscribe = onHeadMoved(check, ['turn'])
      function finish(): void {
        clearTimeout(timer)
        unsubscribe()
        resolve()
      }
      function check(): void {
        if (turnById(turnId)?.endedSeq != null) finish()
      }
      check()
    })
  }

  return {
    async receive(text) {
      const received = await inbox.receive(text)
      if (received.status === 'over_budget') return { status: 'over_budget' }
      if (received.status !== 'asked' || replyBy(text.to) === 'rest') return { status: 'taken', reply: null }
      const { turnId } = received
      const release = outbox.reserve(turnId)
      try {
        await endOf(turnId)
        return { status: 'taken', reply: await outbox.takeReply(turnId) }
      } finally {
        release()
      }
    },
    waiting() {
      const delayed = queries.delayed()
      return delayed && { ...delayed, until: giveUpAt(delayed.since) }
    },
    sendAgain: createSendAgain({
      append,
      ledger,
      deliveries: createDeliveryQueries(views),
      newId: options.newId,
    }),
    async statusReported({ messageSid, status, errorCode }) {
      await append([
        {
          type: 'sms.status.reported',
          actor: 'service',
          channel: 'sms',
          key: `sms-status:${messageSid}:${status}`,
          facts: { messageSid, status, ...(errorCode === null ? {} : { errorCode }) },
        },
      ])
    },
    start() {
      // Loads the provider's SDK now: it blocks the thread for 100 ms, which a call must not feel.
      telephony
        .client()
        .catch((error: unknown) => log.error({ err: error }, 'no client of the telephony API'))
      guests.start()
      outbox.start()
      lostTexts.start()
    },
    async close(graceMs) {
      const untilMs = performance.now() + graceMs
      unsubscribe()
      await guests.close(graceMs)
      await outbox.close(Math.max(0, untilMs - performance.now()))
      await lostTexts.close()
    },
  }
}
