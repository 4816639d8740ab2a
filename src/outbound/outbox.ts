import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Append } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { DeliveryQueries, DeliveryRow } from '../../projections/deliveries.ts'
import { createReactor, type Reactor } from '../lib/reactor.ts'
import { giveUpAt, type OutboundPauses, retryDelayMs } from './backoff.ts'
import { attemptedFact, chatFacts, endedFact, retriedFact } from './facts.ts'
import { type Failure, failed, type Outcome, type Requested, type Transport } from './transport.ts'

/** How long an aborted attempt may take to record that its outcome is unknown. */
const ABORT_MS = 500

/**
 * Makes every requested delivery, each at most once. An attempt is recorded first; one that an interruption
 * leaves without an outcome is not repeated, unless it certainly failed. Failures are retried with growing
 * pauses, for a day or up to the request's number of attempts. Each delivery is a lane of its own, but
 * messages to one recipient keep their order.
 */
export function createOutbox(options: {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly deliveries: DeliveryQueries
  readonly onHeadMoved: SubscribeHead
  readonly transports: Readonly<Record<Exclude<DeliveryRow['channel'], 'chat'>, Transport>>
  /** After an import, or while halted, nothing leaves until the owner releases it. */
  readonly isHeld: () => boolean
  /** Whether nobody needs to get a notification any more. */
  readonly isObsolete: (notification: number, channel: 'sms' | 'push') => boolean
  readonly pauses: OutboundPauses
  readonly nowMs: () => number
  /** 0..1, for the jitter of retries. */
  readonly random: () => number
  readonly onFault: (error: unknown) => void
  /** Logs a failed attempt, without the address and the words. */
  readonly onFailedAttempt: (fields: object, message: string) => void
}): Pick<Reactor, 'start' | 'wake' | 'settled'> & { close(graceMs: number): Promise<void> } {
  const { append, ledger, transports, nowMs } = options
  const { sms, webhook, push } = transports
  const limits = { sms: pLimit(sms.atOnce), webhook: pLimit(webhook.atOnce), push: pLimit(push.atOnce) }
  const reactor: Reactor = createReactor<DeliveryRow>({
    onHeadMoved: options.onHeadMoved,
    areas: ['delivery', 'ledger', 'outbound', 'delegation', 'allowance'],
    next: (isTaken) => waiting().find(({ row, inMs }) => inMs === 0 && !isTaken(row.deliveryId))?.row,
    laneOf: ({ deliveryId }) => deliveryId,
    run: (row, signal) =>
      row.channel === 'chat' || row.status === 'attempted'
        ? deliver(row, signal)
        : limits[row.channel](async () => {
            // While it waited for its turn, an earlier text to the number may have failed, or a close begun.
            const isDue = dueNow().some(({ deliveryId }) => deliveryId === row.deliveryId)
            return reactor.isOpen() && isDue ? deliver(row, signal) : 'held'
          }),
    dueInMs() {
      const waits = waiting().map(({ inMs }) => inMs)
      return waits.length === 0 ? null : Math.min(...waits)
    },
    onFault: options.onFault,
  })

  /** The first delivery to each recipient, and all that wait for nobody, with the time until each is due. */
  function waiting(): { readonly row: DeliveryRow; readonly inMs: number }[] {
    const isHeld = options.isHeld()
    const recipients = new Set<string>()
    return options.deliveries.open().flatMap((row) => {
      const { channel } = row
      // A release is a fact, so nothing is due until then.
      if (isHeld && channel !== 'chat') return []
      // What may already have been delivered does not block others.
      if (row.status === 'attempted') return [{ row, inMs: 0 }]
      const recipient =
        channel === 'webhook' || channel === 'push'
          ? row.deliveryId
          : `${channel}:${requestOf(row).body?.target}`
      if (recipients.has(recipient)) return []
      recipients.add(recipient)
      return [{ row, inMs: channel === 'chat' ? 0 : transports[channel].untilDueMs(row) }]
    })
  }

  function dueNow(): DeliveryRow[] {
    return waiting().flatMap(({ row, inMs }) => (inMs === 0 ? [row] : []))
  }

  function requestOf({ requestedSeq }: DeliveryRow): Requested {
    const [event] = ledger.readSeqs([requestedSeq])
    if (event?.type !== 'delivery.requested') throw new Error(`no delivery.requested at seq ${requestedSeq}`)
    return event
  }

  async function deliver(row: DeliveryRow, signal: AbortSignal): Promise<'held' | undefined> {
    signal.throwIfAborted()
    const event = requestOf(row)
    const { body } = event
    if (!body) return void (await settle(row, event, row.attempts, { status: 'erased' }))
    const message = { ...event, body }
    if (row.channel === 'chat') return void (await append(chatFacts(message)))
    const transport = transports[row.channel]
    if (row.status === 'attempted')
      return void (await settle(row, event, row.attempts, await transport.recover(message, row, signal)))
    if (isObsolete(row, event)) return void (await settle(row, event, row.attempts, { status: 'obsolete' }))
    const attempt = row.attempts + 1
    const prepared = await transport.prepare(message)
    if (prepared.status === 'failed') return void (await settle(row, event, attempt, prepared))
    if (prepared.status === 'postponed') return void (await append(prepared.facts))
    let hasActed = false
    try {
      // Held since it was prepared. Its release makes it due again.
      if (options.isHeld()) return 'held'
      const intent = await append([attemptedFact(event, attempt)])
      // The views are behind the ledger: this attempt was made before.
      if (intent.status === 'duplicate') return undefined
      // Held while the attempt was being recorded: certainly not sent.
      hasActed = !options.isHeld()
      const outcome = hasActed ? await prepared.act(signal) : failed('halted', { mayRetry: true })
      if (outcome) await settle(row, event, attempt, outcome)
    } finally {
      if (!hasActed) await prepared.release?.()
    }
    return undefined
  }

  /** Much may happen between a request and its attempt: a halt, an outage, and the owner who looks for themselves. */
  function isObsolete({ channel, retryOf }: DeliveryRow, { facts: { notification } }: Requested): boolean {
    const isNotice = notification !== undefined && (channel === 'sms' || channel === 'push')
    // The owner asked to send it again, however late.
    return isNotice && retryOf === null && options.isObsolete(notification, channel)
  }

  /** Ends the delivery, or schedules the next attempt. */
  async function settle(
    row: DeliveryRow,
    event: Requested,
    attempt: number,
    outcome: Outcome,
  ): Promise<void> {
    const transport = row.channel === 'chat' ? null : transports[row.channel]
    const retryAt = outcome.status === 'failed' ? retryTime(row, attempt, outcome) : null
    if (outcome.status === 'failed' && retryAt !== null) {
      const delayed = transport?.delayed(event, attempt, outcome.kind) ?? []
      await append([retriedFact(event, attempt, outcome.kind, retryAt), ...delayed])
    } else {
      const ended = endedFact(event, attempt, outcome)
      const appended = append(transport ? transport.aroundEnd(event, outcome, ended) : [ended])
      if (outcome.status === 'delivered') outcome.recordedBy?.(appended)
      await appended
    }
    if (outcome.status !== 'failed') return
    const { deliveryId, channel } = row
    const { kind, providerCode } = outcome
    options.onFailedAttempt(
      { deliveryId, channel, attempt, kind, providerCode, retryAt },
      'a delivery failed',
    )
  }

  /** When to try again; null after the last attempt. */
  function retryTime(
    { taskId, maxAttempts, requestedAt }: DeliveryRow,
    attempt: number,
    { kind, mayRetry, retryAfterMs }: Failure,
  ): string | null {
    // The chat then delivers the task's outcome.
    const isTaskOver = kind !== 'halted' && taskId !== null && attempt >= maxAttempts
    const untilMs = Date.parse(giveUpAt(requestedAt))
    if (!mayRetry || isTaskOver || nowMs() >= untilMs) return null
    const delayMs = retryDelayMs(options.pauses, attempt, options.random(), retryAfterMs)
    return new Date(Math.min(nowMs() + delayMs, untilMs)).toISOString()
  }

  return {
    start: reactor.start,
    wake: reactor.wake,
    settled: reactor.settled,
    // The next start recovers an attempt that is still running then.
    close: (graceMs) =>
      Promise.race([reactor.close(graceMs), pause(graceMs + ABORT_MS, undefined, { ref: false })]),
  }
}
