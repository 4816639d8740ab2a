import type { Twilio } from 'twilio'
import type { Append, EventOf, NewEvent } from '../../../ledger/event.ts'
import type { SubscribeHead } from '../../../ledger/follow.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import type { TextDeliveryRow, TextQueries } from '../../../projections/texts.ts'
import { type OutboundPauses, retryDelayMs, untilRetryMs } from '../../outbound/backoff.ts'
import { createProgressGuard } from '../../progress.ts'
import { failureSignal } from './failure-signal.ts'
import { segmentsOf } from './segments.ts'
import { findSent, type OutgoingText, type SendOutcome, sendText } from './send.ts'

export type SmsOutbox = {
  start(): void
  /**
   * Takes the reply of a turn out of the outbox, to be given in the answer to the webhook: the text, recorded as
   * sent. Null where there is none, or it is on its way already.
   */
  takeReply(turnId: string): Promise<string | null>
  /** From now on the replies of this turn wait for `takeReply`; the returned function ends that. */
  reserve(turnId: string): () => void
  /**
   * Lets what is being sent come to its end within `graceMs`. What the provider has not answered by then is not waited
   * for: its attempt is a fact, and the next start looks in the provider's list for what became of it.
   */
  close(graceMs: number): Promise<void>
}

type Requested = EventOf<'delivery.requested'>
type FailureKind = EventOf<'sms.failed'>['facts']['kind']

const RETRY_AFTER_FAULT_MS = 1_000
const MAX_WAIT_MS = 60_000

/**
 * Sends the texts that were asked for and have no outcome yet, one at a time, each at most once: the attempt is a
 * fact before the act. What the provider may have taken is looked up in its own list; what is not found there ends
 * as unknown and is never sent again. After an import nothing leaves until the owner says so.
 */
export function createSmsOutbox(options: {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly texts: TextQueries
  readonly onHeadMoved: SubscribeHead
  readonly client: () => Promise<Twilio | null>
  readonly ownNumber: () => string | null
  readonly statusCallback: () => string | null
  readonly partyOf: (number: string) => 'owner' | 'guest'
  readonly isHeld: () => boolean
  /** So many texts have left today that no more may. */
  readonly isSpent: () => boolean
  readonly pauses: OutboundPauses
  readonly newId: () => string
  readonly nowMs: () => number
  /** 0..1, for the jitter of retries. */
  readonly random: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly onFault: (error: unknown) => void
}): SmsOutbox {
  const { append, ledger, texts, nowMs } = options
  const reserved = new Set<string>()
  const requireProgress = createProgressGuard()
  let wake = Promise.withResolvers<void>()
  let closing = false
  let loop: Promise<void> = Promise.resolve()
  let unsubscribe: (() => void) | null = null

  async function run(): Promise<void> {
    while (!closing) {
      wake = Promise.withResolvers()
      try {
        const row = next()
        requireProgress(row)
        if (row) await deliver(row)
        else await sleep()
      } catch (error) {
        requireProgress(undefined)
        options.onFault(error)
        await Promise.race([options.pause(RETRY_AFTER_FAULT_MS), wake.promise])
      }
    }
  }
  function next(): TextDeliveryRow | undefined {
    const row = texts.openDeliveries().find((each) => !isWaiting(each))
    return row === undefined || options.isHeld() ? undefined : row
  }
  function isWaiting({ state, retryAt, turnId }: TextDeliveryRow): boolean {
    if (turnId !== null && reserved.has(turnId)) return true
    return state === 'waiting' && untilRetryMs(retryAt, nowMs()) > 0
  }
  async function sleep(): Promise<void> {
    // While everything is held no moment changes that; being released wakes.
    const open = options.isHeld() ? [] : texts.openDeliveries()
    const dueMs = open.flatMap(({ retryAt }) => (retryAt === null ? [] : [untilRetryMs(retryAt, nowMs())]))
    const timer = setTimeout(() => wake.resolve(), Math.max(50, Math.min(MAX_WAIT_MS, ...dueMs)))
    timer.unref()
    await wake.promise
    clearTimeout(timer)
  }

  async function deliver(row: TextDeliveryRow): Promise<void> {
    const [event] = ledger.readSeqs([row.requestedSeq])
    if (event?.type !== 'delivery.requested') throw new Error(`there is no delivery at ${row.requestedSeq}`)
    // Its words were erased before they left: there is nothing to send.
    if (!event.body) return conclude(event, row.attempts, { status: 'failed', kind: 'refused' })
    const client = await options.client()
    const from = options.ownNumber() ?? numberTexted(event)
    const message = {
      from: from ?? '',
      to: event.body.target,
      text: event.body.text,
      statusCallback: options.statusCallback(),
    }
    if (row.state === 'attempted') {
      if (!client) return conclude(event, row.attempts, { status: 'unknown' })
      return conclude(event, row.attempts, await reconcile(client, message, row.attemptedAt))
    }
    if (texts.isOptedOut(message.to))
      return conclude(event, row.attempts + 1, { status: 'failed', kind: 'opted_out' })
    if (!client || from === null || message.to === '')
      return conclude(event, row.attempts + 1, { status: 'failed', kind: 'not_configured' })
    if (options.isSpent()) return conclude(event, row.attempts + 1, { status: 'failed', kind: 'budget' })
    await attempt(event, row, client, message)
  }

  /** Without a number in the settings an answer leaves from the one that was texted; null where this answers no text. */
  function numberTexted({ causedBy }: Requested): string | null {
    const [cause] = causedBy === null ? [] : ledger.readSeqs([causedBy])
    return (cause?.type === 'sms.received' && cause.body?.to) || null
  }

  async function attempt(
    event: Requested,
    row: TextDeliveryRow,
    client: Twilio,
    message: OutgoingText,
  ): Promise<void> {
    const { deliveryId, maxAttempts } = event.facts
    const number = row.attempts + 1
    const attemptedAt = new Date(nowMs()).toISOString()
    const intent = await append([attempted(event, number)])
    // Somebody else took it.
    if (intent.status === 'duplicate') return
    const sent = await sendText(client, message)
    const outcome =
      sent.status === 'ambiguous' ? await settle(client, message, attemptedAt, sent.answered) : sent
    if (outcome.status === 'failed' && outcome.mayRetry && number < maxAttempts) {
      const retryAt = new Date(nowMs() + retryDelayMs(options.pauses, number, options.random())).toISOString()
      await append([
        {
          type: 'delivery.failed',
          ...envelope(event),
          key: `delivery:${deliveryId}:failed:${number}`,
          facts: { deliveryId, channel: 'sms', attempt: number, kind: outcome.kind, final: false, retryAt },
        },
      ])
      return
    }
    await conclude(event, number, outcome)
  }

  /** What came of an attempt that the provider answered with a failure, or not at all. */
  async function settle(
    client: Twilio,
    message: OutgoingText,
    attemptedAt: string,
    answered: boolean,
  ): Promise<Exclude<SendOutcome, { status: 'ambiguous' }> | { readonly status: 'unknown' }> {
    const found = await lookUp(client, message, attemptedAt)
    if (found.status === 'missing' && answered) {
      return { status: 'failed', kind: 'unavailable', providerCode: null, mayRetry: true }
    }
    return found.status === 'sent' ? found : { status: 'unknown' }
  }

  async function reconcile(
    client: Twilio,
    message: OutgoingText,
    attemptedAt: string | null,
  ): Promise<Outcome> {
    const found = await lookUp(client, message, attemptedAt)
    return found.status === 'sent' ? found : { status: 'unknown' }
  }

  /** Looks in the provider's own list, several times; `unreadable` when not even the last look was granted. */
  async function lookUp(
    client: Twilio,
    message: OutgoingText,
    attemptedAt: string | null,
  ): Promise<
    { readonly status: 'sent'; readonly messageSid: string } | { readonly status: 'missing' | 'unreadable' }
  > {
    const isKnown = (messageSid: string) => ledger.rowByKey(`sms-sent:${messageSid}`) !== undefined
    let status: 'missing' | 'unreadable' = 'unreadable'
    for (const ms of options.pauses.lookUpAfterMs) {
      if (ms > 0) await options.pause(ms)
      try {
        const messageSid = await findSent(client, message, {
          attemptedAt: attemptedAt ?? new Date(nowMs()).toISOString(),
          nowMs,
          isKnown,
        })
        if (messageSid !== null) return { status: 'sent', messageSid }
        status = 'missing'
      } catch (error) {
        status = 'unreadable'
        options.onFault(error)
      }
    }
    return { status }
  }

  type Outcome =
    | Exclude<SendOutcome, { status: 'ambiguous' | 'failed' }>
    | { readonly status: 'failed'; readonly kind: FailureKind; readonly providerCode?: number | null }
    | { readonly status: 'unknown' }
    | { readonly status: 'in_markup' }

  async function conclude(event: Requested, number: number, outcome: Outcome): Promise<void> {
    const { deliveryId } = event.facts
    const body = { to: event.body?.target ?? '', text: event.body?.text ?? '' }
    const at = { ...envelope(event), derivedFrom: [event.seq] }
    const facts = { deliveryId, channel: 'sms' as const, attempt: number }
    const party = options.partyOf(body.to)
    const key = `delivery:${deliveryId}:ended`
    if (outcome.status === 'sent' || outcome.status === 'in_markup') {
      const messageSid = outcome.status === 'sent' ? outcome.messageSid : null
      await append([
        {
          type: 'sms.sent',
          ...at,
          actor: 'delegate',
          key: messageSid === null ? `sms-sent:delivery:${deliveryId}` : `sms-sent:${messageSid}`,
          facts: { messageSid, deliveryId, party, segments: segmentsOf(body.text) },
          body,
        },
        { type: 'delivery.succeeded', ...envelope(event), key, facts: { ...facts, providerId: messageSid } },
      ])
      return
    }
    const kind = outcome.status === 'unknown' ? 'unknown' : outcome.kind
    const providerCode = outcome.status === 'failed' ? (outcome.providerCode ?? undefined) : undefined
    const isTold = event.facts.taskId !== null && outcome.status === 'failed'
    const ended: NewEvent =
      outcome.status === 'unknown'
        ? { type: 'delivery.unknown', ...envelope(event), key, facts }
        : {
            type: 'delivery.failed',
            ...envelope(event),
            key,
            facts: { ...facts, kind, final: true, retryAt: null },
          }
    await append([
      ...(event.body
        ? [
            {
              type: 'sms.failed' as const,
              ...at,
              facts: { deliveryId, party, kind, ...(providerCode === undefined ? {} : { providerCode }) },
              body,
            },
          ]
        : []),
      ended,
      // Of a task that could not be texted the chat tells in its place.
      ...(event.body && event.conversationId !== null && !isTold
        ? [
            failureSignal(
              {
                ...body,
                seq: event.seq,
                what: kind === 'unknown' ? 'may not have been sent' : 'was not sent',
              },
              options.newId(),
            ),
          ]
        : []),
    ])
  }

  function attempted(event: Requested, number: number): NewEvent {
    const { deliveryId } = event.facts
    return {
      type: 'delivery.attempted',
      ...envelope(event),
      key: `delivery:${deliveryId}:attempt:${number}`,
      facts: { deliveryId, channel: 'sms', attempt: number },
    }
  }

  return {
    start() {
      unsubscribe = options.onHeadMoved(() => wake.resolve(), ['delivery', 'sms', 'ledger', 'outbound'])
      loop = run()
    },
    reserve(turnId) {
      reserved.add(turnId)
      return () => {
        reserved.delete(turnId)
        wake.resolve()
      }
    },
    async takeReply(turnId) {
      const row = texts.openDeliveries().find((open) => open.turnId === turnId && open.state === 'requested')
      const [event] = row ? ledger.readSeqs([row.requestedSeq]) : []
      if (
        !row ||
        options.isHeld() ||
        options.isSpent() ||
        event?.type !== 'delivery.requested' ||
        !event.body ||
        texts.isOptedOut(event.body.target)
      )
        return null
      const intent = await append([attempted(event, 1)])
      if (intent.status === 'duplicate') return null
      await conclude(event, 1, { status: 'in_markup' })
      return event.body.text
    },
    async close(graceMs) {
      closing = true
      unsubscribe?.()
      wake.resolve()
      const graceIsOver = Promise.withResolvers<void>()
      const deadline = setTimeout(graceIsOver.resolve, graceMs)
      await Promise.race([loop, graceIsOver.promise])
      clearTimeout(deadline)
    },
  }
}

/** Where the facts of a delivery stand: beside what asked for it. */
function envelope({ conversationId, spanId, turnId, seq }: Requested) {
  return {
    actor: 'service' as const,
    channel: 'sms' as const,
    conversationId,
    spanId,
    turnId,
    causedBy: seq,
  }
}
