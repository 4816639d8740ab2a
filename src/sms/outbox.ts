import { setTimeout as pause } from 'node:timers/promises'
import type { Twilio } from 'twilio'
import type { Append } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { TextDeliveryRow, TextQueries } from '../../projections/texts.ts'
import {
  giveUpAt,
  LONGEST_RETRY_MS,
  type OutboundPauses,
  retryDelayMs,
  untilRetryMs,
} from '../lib/backoff.ts'
import { createReactor } from '../lib/reactor.ts'
import {
  attemptedFact,
  delayedFacts,
  type Ending,
  endedFacts,
  type Requested,
  retriedFact,
} from './delivery-facts.ts'
import { type FailedSend, findSent, type OutgoingText, sendText } from './send.ts'

export type SmsOutbox = {
  start(): void
  /**
   * Records the reply of a turn as sent and returns it for the webhook's response. Null if none is waiting.
   */
  takeReply(turnId: string): Promise<string | null>
  /** Holds the replies of this turn for `takeReply` until the returned function is called. */
  reserve(turnId: string): () => void
  /** The telephony settings changed: retries texts that wait for other credentials. */
  settingsChanged(): void
  /** Waits at most `graceMs` for the request in progress. The next start looks up what is left of it. */
  close(graceMs: number): Promise<void>
}

/** Failed attempts of a text before the owner is notified of a delay. */
const ATTEMPTS_BEFORE_NOTICE = 3

type Open = { readonly row: TextDeliveryRow; readonly event: Requested }
/** `inMs`: milliseconds until it is due. */
type Waiting = Open & { readonly inMs: number }
/** The next look-up of a text in the provider's message list. */
type Look = {
  /** Look-ups so far. */
  readonly count: number
  readonly dueMs: number
  /** The provider responded with a failure, so a text that is missing from its list was not accepted. */
  readonly answered: boolean
  readonly client: Twilio | null
}

/**
 * Sends requested texts, each at most once: every attempt is recorded first. An attempt without a clear
 * response is looked up in the provider's message list, and ends as unknown if it is not there. An attempt
 * that certainly failed is retried for a day. Texts to one number keep their order and do not block other
 * numbers.
 */
export function createSmsOutbox(options: {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly texts: TextQueries
  readonly onHeadMoved: SubscribeHead
  /** Must return the same client as long as the credentials stay the same. */
  readonly client: () => Promise<Twilio | null>
  readonly ownNumber: () => string | null
  readonly statusCallback: () => string | null
  readonly partyOf: (number: string) => 'owner' | 'guest'
  /** After an import nothing is sent until the owner releases it. */
  readonly isHeld: () => boolean
  /** Whether the daily limit of texts is reached. */
  readonly isSpent: () => boolean
  readonly pauses: OutboundPauses
  readonly newId: () => string
  readonly nowMs: () => number
  /** 0..1, for the jitter of retries. */
  readonly random: () => number
  readonly onFault: (error: unknown) => void
  /** Logs a failed attempt or look-up, without the number and the words. */
  readonly onFailedAttempt: (fields: object, message: string) => void
}): SmsOutbox {
  const { append, ledger, texts, pauses, nowMs } = options
  const reserved = new Set<string>()
  const looks = new Map<string, Look>()
  /** The client whose credentials the provider last rejected. */
  let refused: Twilio | null = null
  /** Null without credentials. */
  let client: Twilio | null = null
  /** Counts changes of the settings. `clientOf` is the count for which `client` was made. */
  let changes = 0
  let clientOf = -1
  const reactor = createReactor<Waiting | 'client'>({
    onHeadMoved: options.onHeadMoved,
    areas: ['delivery', 'sms', 'ledger', 'outbound'],
    next: () => (clientOf < changes ? 'client' : openTexts().find(({ inMs }) => inMs === 0)),
    stepOf: (work) => (work === 'client' ? changes : [work.row, looks.get(work.row.deliveryId)?.count]),
    run: (work) => (work === 'client' ? renewClient() : step(work, client)),
    dueInMs() {
      const waits = openTexts().map(({ inMs }) => inMs)
      return waits.length === 0 ? null : Math.min(...waits)
    },
    onFault: options.onFault,
  })

  async function renewClient(): Promise<void> {
    const change = changes
    client = await options.client()
    clientOf = change
  }

  /** The first open text of each number, and all that are looked up, with the time until each is due. */
  function openTexts(): Waiting[] {
    // A release is a fact.
    if (options.isHeld()) return []
    const waiting = new Set<string>()
    const isSpent = options.isSpent() && texts.delayed() !== null
    return texts.openDeliveries().flatMap((row) => {
      if (row.turnId !== null && reserved.has(row.turnId)) return []
      const event = requestOf(row)
      if (row.state === 'attempted') return [{ row, event, inMs: untilLookMs(row) }]
      const target = event.body?.target ?? ''
      if (waiting.has(target)) return []
      // A text that may already have been sent does not block others.
      waiting.add(target)
      return [{ row, event, inMs: untilSendMs(row, isSpent) }]
    })
  }

  function untilLookMs({ deliveryId }: TextDeliveryRow): number {
    const look = looks.get(deliveryId)
    return look === undefined || look.client !== client ? 0 : Math.max(0, look.dueMs - nowMs())
  }

  /** `isSpent`: the daily limit is reached and the owner has been notified. */
  function untilSendMs(row: TextDeliveryRow, isSpent: boolean): number {
    const untilGivenUpMs = Math.max(0, Date.parse(giveUpAt(row.requestedAt)) - nowMs())
    if (isSpent) return untilGivenUpMs
    if (row.state !== 'waiting') return 0
    if (client === null) return untilGivenUpMs
    if (row.kind === 'credentials' && client !== refused) return 0
    return untilRetryMs(row.retryAt, nowMs())
  }

  function requestOf(row: TextDeliveryRow): Requested {
    const [event] = ledger.readSeqs([row.requestedSeq])
    if (event?.type !== 'delivery.requested')
      throw new Error(`no delivery.requested at seq ${row.requestedSeq}`)
    return event
  }

  async function step({ row, event }: Open, client: Twilio | null): Promise<void> {
    const open = { row, event }
    const conclude = (ending: Ending, attempt = row.attempts + 1) => end(open, attempt, ending)
    // The words were erased before they were sent.
    if (!event.body) return conclude({ status: 'failed', kind: 'refused' }, row.attempts)
    const from = options.ownNumber() ?? numberTexted(event)
    const { target: to, text } = event.body
    const message = { from: from ?? '', to, text, statusCallback: options.statusCallback() }
    if (row.state === 'attempted') {
      return client === null ? conclude({ status: 'unknown' }, row.attempts) : look(open, client, message)
    }
    if (texts.isOptedOut(to)) return conclude({ status: 'failed', kind: 'opted_out' })
    if (client === null || from === null || to === '')
      return conclude({ status: 'failed', kind: 'not_configured' })
    if (!options.isSpent()) return attempt(open, client, message)
    if (isOver(row.requestedAt)) return conclude({ status: 'failed', kind: 'budget' })
    await append(delayedFacts(event, 'budget', giveUpAt(row.requestedAt)))
  }

  const isOver = (at: string): boolean => nowMs() >= Date.parse(giveUpAt(at))

  /** The number to reply from if the settings name none; null if this is not a reply to a text. */
  function numberTexted({ causedBy }: Requested): string | null {
    const [cause] = causedBy === null ? [] : ledger.readSeqs([causedBy])
    return (cause?.type === 'sms.received' && cause.body?.to) || null
  }

  async function attempt(open: Open, client: Twilio, message: OutgoingText): Promise<void> {
    const { row, event } = open
    const number = row.attempts + 1
    const intent = await append([attemptedFact(event, number)])
    // takeReply took it first.
    if (intent.status === 'duplicate') return
    const sent = await sendText(client, message, nowMs)
    if (sent.status === 'sent') return end(open, number, sent)
    if (sent.status === 'failed') return failed(open, number, sent, client)
    const dueMs = nowMs() + (pauses.lookUpAfterMs[0] ?? 0)
    looks.set(row.deliveryId, { count: 0, dueMs, answered: sent.answered, client })
  }

  /** An attempt certainly failed: schedules a retry or ends the text. */
  async function failed(open: Open, number: number, failure: FailedSend, client: Twilio): Promise<void> {
    const { row, event } = open
    const { kind, providerCode } = failure
    // The chat then delivers the task's outcome.
    const isTaskOver = event.facts.taskId !== null && number >= event.facts.maxAttempts
    const { deliveryId } = row
    let retryAt: string | null = null
    if (kind === 'credentials') refused = client
    if (kind === 'refused' || kind === 'opted_out' || isTaskOver || isOver(row.requestedAt))
      await end(open, number, failure)
    else {
      const until = giveUpAt(row.requestedAt)
      retryAt = new Date(Math.min(nowMs() + retryMsOf(number, failure), Date.parse(until))).toISOString()
      const isReported = texts.delayed() !== null
      const isLate = number >= ATTEMPTS_BEFORE_NOTICE || kind === 'credentials'
      await append([
        retriedFact(event, number, { kind, retryAt }),
        ...(isLate && !isReported ? delayedFacts(event, kind, until) : []),
      ])
    }
    options.onFailedAttempt(
      { deliveryId, attempt: number, kind, providerCode, retryAt },
      'a text was not sent',
    )
  }

  function retryMsOf(number: number, { kind, retryAfterMs }: FailedSend): number {
    // Every attempt fails until the settings change.
    if (kind === 'credentials') return LONGEST_RETRY_MS
    return retryDelayMs(pauses, number, options.random(), retryAfterMs)
  }

  /** Looks up an unconfirmed attempt in the provider's message list. */
  async function look(open: Open, client: Twilio, message: OutgoingText): Promise<void> {
    const { row } = open
    const { deliveryId, attempts } = row
    const { count, answered } = looks.get(deliveryId) ?? { count: 0, answered: false }
    const found = await lookUp(client, message, row)
    if (found.status === 'sent') return end(open, attempts, found)
    const isLast = count + 1 >= pauses.lookUpAfterMs.length
    if (found.status === 'missing' && isLast) {
      if (!answered) return end(open, attempts, { status: 'unknown' })
      looks.delete(deliveryId)
      const failure = { status: 'failed', kind: 'unavailable', providerCode: null, retryAfterMs: 0 } as const
      return failed(open, attempts, failure, client)
    }
    if (isOver(row.attemptedAt ?? row.requestedAt)) return end(open, attempts, { status: 'unknown' })
    const pauseMs = isLast
      ? retryDelayMs(pauses, count + 1, options.random())
      : (pauses.lookUpAfterMs[count + 1] ?? 0)
    looks.set(deliveryId, { count: count + 1, dueMs: nowMs() + pauseMs, answered, client })
  }

  /** `unreadable` if the list could not be fetched. */
  async function lookUp(
    client: Twilio,
    message: OutgoingText,
    { deliveryId, attempts, attemptedAt, requestedAt }: TextDeliveryRow,
  ): Promise<
    { readonly status: 'sent'; readonly messageSid: string } | { readonly status: 'missing' | 'unreadable' }
  > {
    try {
      const messageSid = await findSent(client, message, {
        attemptedAt: attemptedAt ?? requestedAt,
        nowMs,
        isKnown: (sid) => ledger.rowByKey(`sms-sent:${sid}`) !== undefined,
      })
      return messageSid === null ? { status: 'missing' } : { status: 'sent', messageSid }
    } catch (error) {
      options.onFailedAttempt(
        { err: error, deliveryId, attempt: attempts },
        'could not look up an unconfirmed text',
      )
      return { status: 'unreadable' }
    }
  }

  async function end({ row, event }: Open, number: number, ending: Ending): Promise<void> {
    looks.delete(row.deliveryId)
    const party = options.partyOf(event.body?.target ?? '')
    const wasDelayed = texts.delivery(row.deliveryId)?.delayed === 1
    await append(endedFacts(event, number, ending, { party, wasDelayed, newId: options.newId }))
  }

  return {
    start: reactor.start,
    reserve(turnId) {
      reserved.add(turnId)
      return () => {
        reserved.delete(turnId)
        reactor.wake()
      }
    },
    settingsChanged() {
      changes += 1
      reactor.wake()
    },
    async takeReply(turnId) {
      const row = texts.openDeliveries().find((open) => open.turnId === turnId && open.state === 'requested')
      const event = row && requestOf(row)
      if (!row || !event?.body || options.isHeld() || options.isSpent()) return null
      if (texts.isOptedOut(event.body.target)) return null
      const intent = await append([attemptedFact(event, 1)])
      if (intent.status === 'duplicate') return null
      await end({ row, event }, 1, { status: 'in_markup' })
      return event.body.text
    },
    close: (graceMs) => Promise.race([reactor.close(), pause(graceMs, undefined, { ref: false })]),
  }
}
