import pLimit from 'p-limit'
import type { Appended, NewEvent } from '../../ledger/event.ts'
import { createDeliveryQueries, isUnderWay } from '../../projections/deliveries.ts'
import { createTaskQueries, type TaskRow } from '../../projections/tasks.ts'
import { createReactor } from '../lib/reactor.ts'
import { spanClosed } from '../lib/spans.ts'
import type { Placement } from '../storage/placement.ts'
import type { Storage } from '../storage/storage.ts'

/** The facts and views of tasks, for every part of this folder. */
export type TaskStore = ReturnType<typeof createTaskStore>

/** A span without new facts for this long is closed. */
const IDLE_MS = 2 * 60_000
const LOOK_EVERY_MS = 15_000
const MAX_SPAN_EVENTS = 100

/**
 * Appends the facts of a task to its open span. Keeps spans short, because a page of the timeline never cuts
 * a span and a task may run for a day: a span ends after the task's delivery, when idle, or at
 * MAX_SPAN_EVENTS. The `taskId` links the spans of one task.
 */
export function createTaskStore(options: {
  readonly storage: Pick<Storage, 'append' | 'ledger' | 'views' | 'onHeadMoved'>
  readonly placement: Placement
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
}) {
  const { placement, nowMs } = options
  const { append, ledger, views, onHeadMoved } = options.storage
  const tasks = createTaskQueries(views)
  const deliveries = createDeliveryQueries(views)
  const inTurn = pLimit(1)

  type ClosingReason = Parameters<typeof spanClosed>[1]

  async function closeSpan({ spanId, conversationId }: TaskRow, reason: ClosingReason): Promise<void> {
    if (spanId !== null) await append([spanClosed({ conversationId, spanId }, reason, 'system')])
  }

  /** Why to close the open span of a task; null to keep it open. */
  function endOfSpan({ taskId, status, announced, lastAt }: TaskRow): ClosingReason | null {
    // The last fact lies in the future if the clock was ahead and has been corrected.
    if (status === 'queued' || status === 'running')
      return Math.abs(nowMs() - Date.parse(lastAt)) >= IDLE_MS ? 'idle' : null
    const isAnnounced = status === 'cancelled' || announced === 1
    // A delivery in progress has its own time limit.
    if (!isAnnounced || isUnderWay(deliveries.ofTask(taskId))) return null
    return status === 'finished' ? 'completed' : status
  }

  const reactor = createReactor<TaskRow>({
    onHeadMoved,
    areas: ['task', 'delivery', 'span', 'conversation'],
    next: () => tasks.withOpenSpan().find((row) => endOfSpan(row) !== null),
    async run({ taskId }) {
      await inTurn(async () => {
        const row = tasks.byId(taskId)
        const reason = row && endOfSpan(row)
        if (reason) await closeSpan(row, reason)
      })
    },
    dueInMs: () => (tasks.withOpenSpan().length === 0 ? null : LOOK_EVERY_MS),
    onFault: options.onFault,
  })

  return {
    tasks,
    deliveries,
    ledger,
    onHeadMoved,
    /** What was asked and what came of it; empty if erased. */
    wordsOf({ dispatchedSeq, endedSeq }: TaskRow) {
      const [dispatched, ended] = ledger.readSeqs(
        endedSeq === null ? [dispatchedSeq] : [dispatchedSeq, endedSeq],
      )
      const asked = dispatched?.type === 'task.dispatched' ? dispatched.body : null
      const came = ended?.type === 'task.finished' || ended?.type === 'task.failed' ? ended.body : null
      return { title: asked?.title ?? '', prompt: asked?.prompt ?? '', outcome: came?.text ?? null }
    },
    /** Appends one batch, opening a span if needed. */
    append: (taskId: string, events: readonly NewEvent[]): Promise<Appended> =>
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
          events,
        )
      }),
    start: reactor.start,
    async close(): Promise<void> {
      await reactor.close()
      await inTurn(() => undefined)
    },
  }
}
