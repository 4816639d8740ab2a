import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Twilio } from 'twilio'
import type { NewEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { DeliveryRow } from '../../projections/deliveries.ts'
import type { TextQueries } from '../../projections/texts.ts'
import { ownerNumbersOf } from '../settings/party.ts'
import type { Settings } from '../settings/settings.ts'
import { segmentsOf } from '../text/segments.ts'
import { giveUpAt, type OutboundPauses, untilRetryMs } from './backoff.ts'
import { findSent, type OutgoingText, sendText } from './sms-provider.ts'
import { delayedFacts, textEnd } from './text-facts.ts'
import { failed, type Message, type Outcome, type Transport } from './transport.ts'

/** Failed attempts of a text before the owner is notified of a delay. */
const ATTEMPTS_BEFORE_NOTICE = 3

/** The provider's API, with the settings at the time of each use. */
export type Telephony = {
  /** Null if the settings are incomplete. */
  credentials(): object | null
  client(): Promise<Twilio | null>
}

/** Pays a text by its segments, unless it certainly was not sent. */
export type ReserveText = (
  use: Pick<NewEvent, 'channel' | 'conversationId' | 'spanId' | 'turnId'>,
  segments: number,
) => Promise<ReservedText | null>

type ReservedText = { settle(isSent: boolean): Promise<void> }

const useOf = ({ conversationId, spanId, turnId }: Message) =>
  ({ channel: 'sms', conversationId, spanId, turnId }) as const

export type SmsTransport = Transport & {
  /** Takes the reply of a turn for the webhook's response. Null if none is ready within `ms`, or it is not recorded. */
  claimReply(turnId: string, ms: number): Promise<string | null>
  /** The telephony settings changed: texts that wait for other credentials are due. */
  settingsChanged(): void
}

/**
 * Sends texts by the telephony provider, one after another, because the daily limit counts sent texts. An
 * attempt without a clear response is looked up in the provider's message list.
 */
export function createSmsTransport(options: {
  readonly ledger: LedgerReader
  readonly texts: TextQueries
  readonly settings: Pick<Settings, 'get'>
  readonly telephony: Telephony
  /** Whether the daily limit of texts is reached. */
  readonly isSpent: () => boolean
  /** Reserves what a text costs; null if it is not affordable. */
  readonly reserve: ReserveText
  readonly pauses: OutboundPauses
  readonly newId: () => string
  readonly nowMs: () => number
}): SmsTransport {
  const { ledger, texts, settings, telephony, nowMs } = options
  /** Webhooks that wait for the reply of a turn. Each function stops the wait, and returns how to answer. */
  const claims = new Map<string, () => (reply: string | null) => void>()
  /** Deliveries whose last attempt got an error response: if the list lacks the text, it was not accepted. */
  const answered = new Set<string>()
  /** A look-up must not find a message before the delivery that sent it claims it. */
  const inTurn = pLimit(1)
  /** The deliveries of messages that are not recorded yet. */
  const claimed = new Map<string, string>()
  /** Counts changes of the settings; `refusedIn` is the count when the provider last rejected them. */
  let changes = 0
  let refusedIn: number | null = null

  function outgoing({ causedBy, body }: Message): OutgoingText {
    const publicUrl = settings.get('PUBLIC_URL')
    return {
      from: settings.get('TELEPHONY_PHONE_NUMBER') ?? numberTexted(causedBy),
      to: body.target,
      text: body.text,
      statusCallback: publicUrl && `${publicUrl}/sms/status`,
    }
  }

  /** The number to reply from if the settings name none; empty if this is not a reply to a text. */
  function numberTexted(causedBy: number | null): string {
    const [cause] = causedBy === null ? [] : ledger.readSeqs([causedBy])
    return (cause?.type === 'sms.received' && cause.body?.to) || ''
  }

  return {
    atOnce: 1,

    untilDueMs({ attempts, kind, retryAt, requestedAt }) {
      const untilGivenUpMs = Math.max(0, Date.parse(giveUpAt(requestedAt)) - nowMs())
      // The owner has been notified already.
      if (texts.delayed() !== null && options.isSpent()) return untilGivenUpMs
      if (attempts > 0 && telephony.credentials() === null) return untilGivenUpMs
      if (kind === 'credentials' && refusedIn !== changes) return 0
      return untilRetryMs(retryAt, nowMs())
    },

    async prepare(message) {
      const { turnId, body } = message
      if (texts.isOptedOut(body.target)) return failed('opted_out')
      const change = changes
      // A webhook that waits for this reply needs no client.
      const isClaimed = turnId !== null && claims.has(turnId)
      const client = isClaimed ? null : await telephony.client()
      const { from, to } = outgoing(message)
      if (!isClaimed && (client === null || from === '' || to === '')) return failed('not_configured')
      const paid = options.isSpent() ? null : await options.reserve(useOf(message), segmentsOf(body.text))
      if (paid) {
        const act = async () =>
          client === null ? answerWebhook(turnId ?? '', body.text) : send(message, client, change)
        return { status: 'ready', act: () => settled(act, paid), release: () => paid.settle(false) }
      }
      const until = giveUpAt(message.at)
      if (nowMs() >= Date.parse(until)) return failed('budget')
      return { status: 'postponed', facts: delayedFacts(message, 'budget', until) }
    },

    recover,
    aroundEnd(event, outcome, ended) {
      answered.delete(event.facts.deliveryId)
      const party = ownerNumbersOf(settings).includes(event.body?.target ?? '') ? 'owner' : 'guest'
      const wasDelayed = texts.wasDelayed(event.facts.deliveryId)
      return textEnd(event, outcome, ended, { party, wasDelayed, newId: options.newId })
    },

    delayed(event, attempt, kind) {
      if (kind !== 'credentials' && kind !== 'rate_limited' && kind !== 'unavailable') return []
      const isLate = kind === 'credentials' || attempt >= ATTEMPTS_BEFORE_NOTICE
      return isLate && texts.delayed() === null ? delayedFacts(event, kind, giveUpAt(event.at)) : []
    },

    claimReply: (turnId, ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => take()(null), ms)
        function take(): typeof resolve {
          clearTimeout(timer)
          claims.delete(turnId)
          return resolve
        }
        claims.set(turnId, take)
      }),

    settingsChanged() {
      changes += 1
    },
  }

  function answerWebhook(turnId: string, text: string): Outcome {
    const answer = claims.get(turnId)?.()
    // The webhook waits no longer.
    if (!answer) return failed('not_configured')
    return {
      status: 'delivered',
      providerId: null,
      recordedBy: (appended) =>
        void appended.then(
          () => answer(text),
          () => answer(null),
        ),
    }
  }

  function claim(messageSid: string, deliveryId: string): Outcome {
    claimed.set(messageSid, deliveryId)
    return {
      status: 'delivered',
      providerId: messageSid,
      recordedBy: (appended) =>
        void appended.then(
          () => claimed.delete(messageSid),
          () => undefined,
        ),
    }
  }

  /** A text that may have been sent is paid. */
  async function settled(act: () => Promise<Outcome | null>, paid: ReservedText): Promise<Outcome | null> {
    const outcome = await act()
    void paid.settle(outcome?.status !== 'failed')
    return outcome
  }

  async function send(message: Message, client: Twilio, change: number): Promise<Outcome | null> {
    const { deliveryId } = message.facts
    answered.delete(deliveryId)
    const sent = await inTurn(async () => {
      const outcome = await sendText(client, outgoing(message), nowMs)
      const sid = outcome.status === 'delivered' ? outcome.providerId : null
      return sid === null ? outcome : claim(sid, deliveryId)
    })
    if (sent.status === 'ambiguous') {
      if (sent.answered) answered.add(deliveryId)
      return null
    }
    if (sent.status === 'failed' && sent.kind === 'credentials') refusedIn = change
    return sent
  }

  /** Looks a text up in the provider's list, where it may appear late. While that fails, for a day. */
  async function recover(message: Message, row: DeliveryRow, signal: AbortSignal): Promise<Outcome> {
    const { deliveryId } = row
    const attemptedAt = row.attemptedAt ?? row.requestedAt
    const client = await telephony.client()
    if (client === null) return { status: 'unknown' }
    const isOver = nowMs() >= Date.parse(giveUpAt(attemptedAt))
    for (const pauseMs of options.pauses.lookUpAfterMs) {
      await pause(pauseMs, undefined, { signal })
      const outcome = await inTurn(async () => {
        const found = await findSent(client, outgoing(message), {
          attemptedAt,
          nowMs,
          isKnown: (sid) =>
            (claimed.get(sid) ?? deliveryId) !== deliveryId ||
            ledger.rowByKey(`sms-sent:${sid}`) !== undefined,
        })
        return found === null ? null : claim(found, deliveryId)
      }).catch((error: unknown) => {
        if (isOver) return null
        throw error
      })
      if (outcome !== null) return outcome
    }
    if (!answered.has(deliveryId)) return { status: 'unknown' }
    return failed('unavailable', { mayRetry: true })
  }
}
