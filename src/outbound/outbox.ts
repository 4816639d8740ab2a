import type { Append, EventOf, NewEvent } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { DeliveryQueries, DeliveryRow } from '../../projections/deliveries.ts'
import { createProgressGuard } from '../lib/progress.ts'
import { type OutboundPauses, retryDelayMs, untilRetryMs } from './backoff.ts'
import { postWebhook, type WebhookOutcome } from './webhook.ts'

export type DeliveryOutbox = {
  start(): void
  /** Waits at most `graceMs` for the request in progress, which then ends as unknown. */
  close(graceMs: number): Promise<void>
}

type Requested = EventOf<'delivery.requested'>

const RETRY_AFTER_FAULT_MS = 1_000
const MAX_WAIT_MS = 60_000

/**
 * Makes deliveries by chat and webhook in order. Every attempt is recorded first. A request that a crash or
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
}): DeliveryOutbox {
  const { append, ledger, deliveries, nowMs } = options
  const cutOff = new AbortController()
  const requireProgress = createProgressGuard()
  let closing = false
  let wake = Promise.withResolvers<void>()
  let loop: Promise<void> = Promise.resolve()
  let unsubscribe: (() => void) | null = null

  async function run(): Promise<void> {
    while (!closing) {
      wake = Promise.withResolvers()
      try {
        const open = deliveries.open()
        const row = open.find(isDue)
        requireProgress(row)
        if (row) await deliver(row)
        else await sleep(open)
      } catch (error) {
        requireProgress(undefined)
        options.onFault(error)
        await Promise.race([wait(RETRY_AFTER_FAULT_MS), wake.promise])
      }
    }
  }

  function isDue({ channel, retryAt }: DeliveryRow): boolean {
    if (channel === 'chat') return true
    return !options.isHeld() && untilRetryMs(retryAt, nowMs()) === 0
  }

  async function sleep(open: readonly DeliveryRow[]): Promise<void> {
    // A release wakes the loop.
    const dueMs = options.isHeld()
      ? []
      : open.flatMap(({ retryAt }) => (retryAt === null ? [] : [untilRetryMs(retryAt, nowMs())]))
    const timer = setTimeout(() => wake.resolve(), Math.max(50, Math.min(MAX_WAIT_MS, ...dueMs)))
    timer.unref()
    await wake.promise
    clearTimeout(timer)
  }

  async function deliver(row: DeliveryRow): Promise<void> {
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
      { fetch: options.fetch, nowMs, signal: cutOff.signal },
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

  return {
    start() {
      unsubscribe = options.onHeadMoved(() => wake.resolve(), ['delivery', 'ledger', 'outbound'])
      loop = run()
    },
    async close(graceMs) {
      closing = true
      unsubscribe?.()
      wake.resolve()
      const deadline = setTimeout(() => cutOff.abort(), graceMs)
      await loop
      clearTimeout(deadline)
    },
  }
}

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

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
