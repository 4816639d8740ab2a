import type { Twilio } from 'twilio'
import { createCallQueries } from '../../projections/calls.ts'
import { createDeliveryQueries } from '../../projections/deliveries.ts'
import { createOwnerQueries } from '../../projections/owner.ts'
import { createTextQueries, type DelayedTexts } from '../../projections/texts.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import { giveUpAt, type OutboundPauses } from '../lib/backoff.ts'
import type { Log } from '../lib/log.ts'
import type { Tool } from '../model/tool.ts'
import { isWithheld, ownerNumbersOf } from '../settings/party.ts'
import type { Settings } from '../settings/settings.ts'
import type { Placement } from '../storage/placement.ts'
import type { Storage } from '../storage/storage.ts'
import { createSmsInbox, type IncomingText } from './inbox.ts'
import { createLostTexts } from './lost-texts.ts'
import { createSmsOutbox } from './outbox.ts'
import { createSendAgain, type SendAgain } from './send-again.ts'
import { type ProposeText, smsTools } from './tool.ts'

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
  /** The events with the words of a guest's number, in texts and calls, oldest first. */
  guestWordSeqs(number: string, limit: number): readonly number[]
  /** The tools of the delegate. A text to somebody else is only proposed. */
  tools(propose: ProposeText): Tool[]
  start(): void
  close(graceMs: number): Promise<void>
}

/** The provider's API, with the settings at the time of each use. */
export type Telephony = {
  /** Null if the settings are incomplete. */
  credentials(): object | null
  client(): Promise<Twilio | null>
}

export type WaitingTexts = DelayedTexts & { readonly until: string }

/** The events with the words of a guest's number, in texts and calls. */
function createGuestWordSeqs({ views }: Pick<Storage, 'views'>) {
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

/** Wires text messages: inbox, outbox, and the tool that sends them. */
export function buildSms(options: {
  readonly storage: Storage
  readonly settings: Settings
  readonly placement: Placement
  readonly telephony: Telephony
  readonly pauses: OutboundPauses
  /** Whether guests have used up the budget of this number. */
  readonly guestIsSpent: (number: string) => boolean
  /** Whether the daily budget of texts is exhausted. */
  readonly textsAreSpent: () => boolean
  readonly newId: () => string
  readonly nowMs: () => number
  /** 0..1, for the jitter of retries. */
  readonly random: () => number
  readonly log: Log
  readonly onFault: (error: unknown) => void
}): Texts {
  const { storage, settings, telephony, nowMs, log } = options
  const { append, ledger, views, onHeadMoved } = storage
  const queries = createTextQueries(views)
  const turns = createTurnQueries(views)
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
    guestIsSpent: options.guestIsSpent,
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
    isSpent: options.textsAreSpent,
    nowMs,
    random: options.random,
    pauses: options.pauses,
    onFault: options.onFault,
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
        if (turns.byId(turnId)?.endedSeq != null) finish()
      }
      check()
    })
  }

  return {
    guestWordSeqs: createGuestWordSeqs(storage),
    tools: (propose) =>
      smsTools({
        append,
        propose,
        ownerNumbers,
        isOptedOut: queries.isOptedOut,
        isConfigured: () =>
          telephony.credentials() !== null && settings.get('TELEPHONY_PHONE_NUMBER') !== null,
      }),
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
      // Loads the provider's SDK too: it blocks the thread for 100 ms, which a call must not feel.
      outbox.start()
      lostTexts.start()
    },
    async close(graceMs) {
      unsubscribe()
      await outbox.close(graceMs)
      await lostTexts.close()
    },
  }
}
