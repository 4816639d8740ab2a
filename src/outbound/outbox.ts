import type { Append, EventOf, NewEvent } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { DeliveryQueries, DeliveryRow } from '../../projections/deliveries.ts'
import { type OutboundPauses, retryDelayMs, untilRetryMs } from '../lib/backoff.ts'
import { createReactor, type Reactor } from '../lib/reactor.ts'
import { postWebhook, type WebhookOutcome } from './webhook.ts'

type Requested = EventOf<'delivery.requested'>

/** Longer than the connect timeout of 10 seconds, which proves that nothing arrived. */
const LIMIT_MS = 15_000

/**
 * Makes deliveries by chat in order, and by webhook side by side. Every attempt is recorded first. A request that a crash or
 * the network interrupted may have arrived, so it ends as unknown and is not retried.
 */
export function createDeliveryOutbox(options: {
  readonly append: Append
  readonly ledger: LedgerReader
  readonly deliveries: DeliveryQueries
  readonly onHeadMoved: SubscribeHead
  /** Null unless both are set. */
  readonly webhook: () => { readonly url: string; readonly secret: string } | null
  /** Additional fields of the request body. */
  readonly describe: (taskId: string) => Readonly<Record<string, unknown>>
  /** After an import nothing is sent until the owner releases it. */
  readonly isHeld: () => boolean
  readonly pauses: OutboundPauses
  readonly fetch: typeof fetch
  readonly nowMs: () => number
  readonly random: () => number
  readonly onFault: (error: unknown) => void
  /** Logs a failed attempt, without the address and the words. */
  readonly onFailedAttempt: (fields: object, message: string) => void
}): Reactor {
  const { append, ledger, deliveries, nowMs } = options
  const reactor = createReactor<DeliveryRow>({
    onHeadMoved: options.onHeadMoved,
    areas: ['delivery', 'ledger', 'outbound'],
    next: (isTaken) => deliveries.open().find((row) => isDue(row) && !isTaken(laneOf(row))),
    laneOf,
    run: deliver,
    limitMs: LIMIT_MS,
    dueInMs,
    onFault: options.onFault,
  })

  function isDue({ channel, retryAt }: DeliveryRow): boolean {
    if (channel === 'chat') return true
    return !options.isHeld() && untilRetryMs(retryAt, nowMs()) === 0
  }

  function dueInMs(): number | null {
    // A release is a fact.
    if (options.isHeld()) return null
    const waits = deliveries.open().map(({ retryAt }) => untilRetryMs(retryAt, nowMs()))
    return waits.length === 0 ? null : Math.min(...waits)
  }

  async function deliver(row: DeliveryRow, signal: AbortSignal): Promise<void> {
    const [event] = ledger.readSeqs([row.requestedSeq])
    if (event?.type !== 'delivery.requested')
      throw new Error(`no delivery.requested at seq ${row.requestedSeq}`)
    // The words were erased before they were delivered.
    if (!event.body) return fail(event, row.attempts, 'erased')
    if (event.facts.channel === 'chat') return deliverInChat(event, event.body.text)
    if (row.status === 'attempted') return end(event, row.attempts, { status: 'unknown' })
    const target = options.webhook()
    if (!target) return fail(event, row.attempts + 1, 'not_configured')
    const attempt = row.attempts + 1
    const intent = await append([attempted(event, attempt)])
    if (intent.status === 'duplicate') return
    const { taskId } = event.facts
    const body = JSON.stringify({
      id: event.facts.deliveryId,
      at: event.at,
      ...(taskId === null ? {} : options.describe(taskId)),
      text: event.body.text,
    })
    const outcome = await postWebhook(
      { id: event.facts.deliveryId, ...target, body },
      { fetch: options.fetch, nowMs, signal },
    )
    await end(event, attempt, outcome)
  }

  /** Records attempt, words and success in one transaction, because the chat is the ledger itself. */
  async function deliverInChat(event: Requested, text: string): Promise<void> {
    const { deliveryId } = event.facts
    await append([
      attempted(event, 1),
      {
        type: 'chat.reply.sent',
        ...placeOf(event),
        actor: 'delegate',
        channel: 'chat',
        derivedFrom: [event.seq],
        facts: { deliveryId },
        body: { text },
      },
      {
        type: 'delivery.succeeded',
        ...placeOf(event),
        key: `delivery:${deliveryId}:ended`,
        facts: { deliveryId, channel: 'chat', attempt: 1, providerId: null },
      },
    ])
  }

  async function end(event: Requested, attempt: number, outcome: WebhookOutcome): Promise<void> {
    const { deliveryId, channel, maxAttempts } = event.facts
    const facts = { deliveryId, channel, attempt }
    const key = `delivery:${deliveryId}:ended`
    if (outcome.status === 'failed') {
      const { kind } = outcome
      const delayMs = retryDelayMs(options.pauses, attempt, options.random(), outcome.retryAfterMs)
      const isFinal = !outcome.mayRetry || attempt >= maxAttempts
      const retryAt = isFinal ? null : new Date(nowMs() + delayMs).toISOString()
      options.onFailedAttempt({ deliveryId, attempt, kind, retryAt }, 'a webhook delivery failed')
      if (retryAt === null) return fail(event, attempt, kind)
      await append([
        {
          type: 'delivery.failed',
          ...placeOf(event),
          key: `delivery:${deliveryId}:failed:${attempt}`,
          facts: { ...facts, kind, final: false, retryAt },
        },
      ])
      return
    }
    await append([
      outcome.status === 'delivered'
        ? { type: 'delivery.succeeded', ...placeOf(event), key, facts: { ...facts, providerId: null } }
        : { type: 'delivery.unknown', ...placeOf(event), key, facts },
    ])
  }

  async function fail(event: Requested, attempt: number, kind: string): Promise<void> {
    const { deliveryId, channel } = event.facts
    await append([
      {
        type: 'delivery.failed',
        ...placeOf(event),
        key: `delivery:${deliveryId}:ended`,
        facts: { deliveryId, channel, attempt, kind, final: true, retryAt: null },
      },
    ])
  }

  return reactor
}

/** A webhook that hangs holds up only its own delivery. */
const laneOf = ({ channel, deliveryId }: DeliveryRow) => (channel === 'chat' ? 'chat' : deliveryId)

function attempted(event: Requested, attempt: number): NewEvent {
  const { deliveryId, channel } = event.facts
  return {
    type: 'delivery.attempted',
    ...placeOf(event),
    key: `delivery:${deliveryId}:attempt:${attempt}`,
    facts: { deliveryId, channel, attempt },
  }
}

/** The facts of a delivery belong beside its request. */
function placeOf({ conversationId, spanId, seq }: Requested) {
  return { actor: 'service', channel: 'system', conversationId, spanId, causedBy: seq } as const
}
