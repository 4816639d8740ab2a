import type { Append, Appended, NewEvent } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import { type DeliveryQueries, isUnderWay } from '../../projections/deliveries.ts'
import type { TaskQueries, TaskRow } from '../../projections/tasks.ts'
import type { Placement } from '../conversation/placement.ts'

/** Facts of a task, each in the span that its task has open on the timeline. */
export type TaskFacts = {
  /** Appends as one batch, and opens a span for it where the task has none that fits. */
  append(taskId: string, events: readonly NewEvent[]): Promise<Appended>
  start(): void
  close(): Promise<void>
}

/** A span that nothing has been added to for this long is closed; what comes later opens another. */
const IDLE_MS = 2 * 60_000
const LOOK_EVERY_MS = 15_000
/** A span is short: pages take it whole. */
const MAX_SPAN_EVENTS = 100

/**
 * Keeps the spans of tasks short. A task may run for a day, and a page of the timeline never cuts a span: so a span
 * ends with the task's delivery, when nothing happens for a while, or when it has grown long, and the `taskId` links
 * the spans of one task.
 */
export function createTaskFacts(options: {
  readonly append: Append
  readonly placement: Placement
  readonly tasks: TaskQueries
  readonly deliveries: DeliveryQueries
  readonly onHeadMoved: SubscribeHead
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
}): TaskFacts {
  const { append, placement, tasks, deliveries, nowMs } = options
  let last: Promise<unknown> = Promise.resolve()
  let sweep: NodeJS.Timeout | undefined
  let unsubscribe: (() => void) | null = null
  let sweeping = false

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }

  function goesOn({ taskId, status, announced }: TaskRow): boolean {
    if (status === 'queued' || status === 'running') return true
    if (status !== 'cancelled' && announced === 0) return true
    return isUnderWay(deliveries.ofTask(taskId))
  }

  type ClosingReason = 'completed' | 'failed' | 'cancelled' | 'idle' | 'length' | 'conversation_ended'

  async function closeSpan({ spanId, conversationId }: TaskRow, reason: ClosingReason): Promise<void> {
    if (spanId === null) return
    await append([
      {
        type: 'span.closed',
        actor: 'service',
        channel: 'system',
        conversationId,
        spanId,
        key: `span-closed:${spanId}`,
        facts: { reason },
      },
    ])
  }

  /** Why the open span of a task is over; null while it goes on. */
  function endOfSpan(row: TaskRow): ClosingReason | null {
    if (!goesOn(row)) {
      if (row.status === 'finished') return 'completed'
      return row.status === 'cancelled' ? 'cancelled' : 'failed'
    }
    const isOver = row.status !== 'queued' && row.status !== 'running'
    // Its delivery is under way, and has its own bound.
    if (isOver) return null
    // To a clock that was ahead and is right again the last thing has yet to happen.
    return Math.abs(nowMs() - Date.parse(row.lastAt)) >= IDLE_MS ? 'idle' : null
  }

  async function look(): Promise<void> {
    for (const row of tasks.withOpenSpan()) {
      const reason = endOfSpan(row)
      if (reason) await closeSpan(row, reason)
    }
  }

  function lookSoon(): void {
    if (sweeping) return
    sweeping = true
    inTurn(async () => {
      sweeping = false
      await look()
    }).catch(options.onFault)
  }

  return {
    append: (taskId, events) =>
      inTurn(async () => {
        const row = tasks.byId(taskId)
        if (row?.spanId != null) {
          const { spanId, conversationId } = row
          const hasEnded = conversationId !== (placement.openConversationId() ?? null)
          if (!hasEnded && row.spanEvents < MAX_SPAN_EVENTS)
            return append(events.map((event) => ({ ...event, conversationId, spanId })))
          await closeSpan(row, hasEnded ? 'conversation_ended' : 'length')
        }
        return placement.appendToNewSpan(
          { kind: 'delivery', channel: 'system', inConversation: true },
          () => events,
        )
      }),
    start() {
      unsubscribe = options.onHeadMoved(lookSoon, ['task', 'delivery', 'span', 'conversation'])
      sweep = setInterval(lookSoon, LOOK_EVERY_MS)
      sweep.unref()
      lookSoon()
    },
    async close() {
      unsubscribe?.()
      clearInterval(sweep)
      await last
    },
  }
}
