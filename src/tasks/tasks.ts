import { randomBytes } from 'node:crypto'
import type { Appended, NewEvent } from '../../ledger/event.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import {
  type DeliveryAttemptRow,
  type DeliveryQueries,
  type DeliveryRow,
  isUnderWay,
} from '../../projections/deliveries.ts'
import type { TaskQueries, TaskRow } from '../../projections/tasks.ts'
import { endKey } from './outcome.ts'

export type Delivery = Omit<
  DeliveryRow,
  'deliveryId' | 'taskId' | 'fellBack' | 'requestedSeq' | 'attempts'
> & {
  readonly id: string
  readonly attempts: readonly DeliveryAttemptRow[]
}

/** `fallback`: delivered by another channel than the chosen one. */
export type DeliveryState = 'none' | 'pending' | 'delivered' | 'fallback' | 'failed' | 'unknown'

export type Task = {
  readonly id: string
  readonly title: string
  readonly status: TaskRow['status']
  readonly notify: TaskRow['notify']
  readonly by: TaskRow['by']
  readonly timeoutMinutes: number
  readonly retryOf: string | null
  readonly dispatchedAt: string
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly durationMs: number | null
  readonly kind: string | null
  readonly exitCode: number | null
  readonly progressCount: number
  readonly latestProgress: { readonly at: string; readonly text: string } | null
  readonly deliveryState: DeliveryState
  readonly deliveries: readonly Delivery[]
  readonly dispatchedSeq: number
  /** The fact that holds the outcome. */
  readonly endedSeq: number | null
}

/** A task with its words. */
export type WholeTask = Task & { readonly prompt: string; readonly outcome: string | null }

export type NewTask = {
  readonly title: string
  readonly prompt: string
  readonly notify?: TaskRow['notify'] | undefined
}

/** Who dispatched a task, and the facts behind it. */
export type TaskOrigin = {
  readonly by: 'owner' | 'delegate'
  readonly causedBy?: number | undefined
  readonly derivedFrom?: readonly number[] | undefined
  /** Idempotency key. */
  readonly key?: string | undefined
}

export type RetryOutcome =
  | { readonly status: 'dispatched' | 'delivering'; readonly task: Task }
  | { readonly status: 'nothing_to_retry' }

/** No command is set up to run tasks. */
export class NoCodingAssistant extends Error {
  override readonly name = 'NoCodingAssistant'
}

export type Tasks = {
  /** Queues a task. Resolves once it is durable. Throws NoCodingAssistant. */
  dispatch(task: NewTask, origin: TaskOrigin): Promise<Task>
  /** Null if the task is unknown, false if it has already ended. */
  cancel(id: string, by: 'owner' | 'delegate'): Promise<boolean | null>
  /** Retries failed work as a new task, or a failed delivery. Null if the task is unknown. */
  retry(id: string, what?: 'work' | 'delivery'): Promise<RetryOutcome | null>
  get(id: string): WholeTask | undefined
  /** Newest first; `nextSeq` is the cursor of the next page, null at the end. */
  list(limit: number, beforeSeq: number | null): { readonly tasks: Task[]; readonly nextSeq: number | null }
  readonly isConfigured: boolean
}

/** 192 bits, because the id authenticates callbacks. */
const TASK_ID_BYTES = 24

export function createTasks(options: {
  readonly append: (taskId: string, events: readonly NewEvent[]) => Promise<Appended>
  readonly ledger: LedgerReader
  readonly tasks: TaskQueries
  readonly deliveries: DeliveryQueries
  readonly endProcess: (taskId: string) => void
  readonly deliverAgain: (row: TaskRow, failed: DeliveryRow) => Promise<void>
  readonly isConfigured: boolean
  readonly defaultChannel: () => TaskRow['notify']
  readonly timeoutMinutes: () => number
}): Tasks {
  const { append, ledger, tasks, deliveries, isConfigured } = options

  function toDelivery(row: DeliveryRow): Delivery {
    const { deliveryId, taskId: _task, fellBack: _fell, requestedSeq: _seq, attempts: _count, ...rest } = row
    return { id: deliveryId, ...rest, attempts: deliveries.attempts(deliveryId) }
  }

  function toTask(row: TaskRow): WholeTask {
    const seqs = [row.dispatchedSeq, row.lastProgressSeq, row.endedSeq].filter((seq) => seq !== null)
    const events = new Map(ledger.readSeqs(seqs).map((event) => [event.seq, event]))
    const dispatched = events.get(row.dispatchedSeq)
    const progress = row.lastProgressSeq === null ? undefined : events.get(row.lastProgressSeq)
    const ended = row.endedSeq === null ? undefined : events.get(row.endedSeq)
    const rows = deliveries.ofTask(row.taskId)
    const { taskId: id, status, notify, by, timeoutMinutes, retryOf, dispatchedAt, startedAt, endedAt } = row
    return {
      id,
      title: dispatched?.type === 'task.dispatched' ? (dispatched.body?.title ?? '') : '',
      prompt: dispatched?.type === 'task.dispatched' ? (dispatched.body?.prompt ?? '') : '',
      status,
      notify,
      by,
      timeoutMinutes,
      retryOf,
      dispatchedAt,
      startedAt,
      endedAt,
      durationMs: row.durationMs,
      kind: row.kind,
      exitCode: row.exitCode,
      progressCount: row.progressCount,
      latestProgress:
        progress?.type === 'task.progressed' && progress.body
          ? { at: progress.at, text: progress.body.text }
          : null,
      outcome:
        ended?.type === 'task.finished' || ended?.type === 'task.failed' ? (ended.body?.text ?? null) : null,
      deliveryState: stateOf(row, rows),
      deliveries: rows.map(toDelivery),
      dispatchedSeq: row.dispatchedSeq,
      endedSeq: row.endedSeq,
    }
  }

  async function dispatch(
    { title, prompt, notify }: NewTask,
    { by, ...envelope }: TaskOrigin,
    retryOf?: string,
  ): Promise<Task> {
    if (!isConfigured) throw new NoCodingAssistant('no COPILOT_COMMAND is set')
    const taskId = randomBytes(TASK_ID_BYTES).toString('base64url')
    const result = await append(taskId, [
      {
        type: 'task.dispatched',
        actor: by,
        channel: 'system',
        ...envelope,
        facts: {
          taskId,
          notify: notify ?? options.defaultChannel(),
          timeoutMinutes: options.timeoutMinutes(),
          by,
          ...(retryOf === undefined ? {} : { retryOf }),
        },
        body: { title, prompt },
      },
    ])
    const event =
      result.status === 'appended'
        ? result.events.find(({ type }) => type === 'task.dispatched')
        : result.existing
    const row = event?.type === 'task.dispatched' ? tasks.byId(event.facts.taskId) : undefined
    if (!row) throw new Error('a task is not in the views right after its fact')
    return toTask(row)
  }

  async function retryWork(row: TaskRow): Promise<RetryOutcome> {
    if (row.status !== 'failed' && row.status !== 'cancelled') return { status: 'nothing_to_retry' }
    const { title, prompt } = toTask(row)
    // The prompt was erased.
    if (prompt === '') return { status: 'nothing_to_retry' }
    const { notify, dispatchedSeq, taskId } = row
    const task = await dispatch(
      { title, prompt, notify },
      { by: 'owner', causedBy: dispatchedSeq, derivedFrom: [dispatchedSeq], key: `task-retry:${taskId}` },
      taskId,
    )
    return { status: 'dispatched', task }
  }

  async function retryDelivery(row: TaskRow): Promise<RetryOutcome> {
    const failed = undelivered(row, deliveries.ofTask(row.taskId))
    if (!failed) return { status: 'nothing_to_retry' }
    await options.deliverAgain(row, failed)
    return { status: 'delivering', task: toTask(tasks.byId(row.taskId) ?? row) }
  }

  return {
    isConfigured,
    dispatch: (task, origin) => dispatch(task, origin),
    async cancel(id, by) {
      const row = tasks.byId(id)
      if (!row) return null
      if (row.status !== 'queued' && row.status !== 'running') return false
      const result = await append(id, [
        {
          type: 'task.cancelled',
          actor: by,
          channel: 'system',
          key: endKey(id),
          causedBy: row.dispatchedSeq,
          facts: { taskId: id, by },
        },
      ])
      options.endProcess(id)
      return result.status === 'appended'
    },
    async retry(id, what) {
      const row = tasks.byId(id)
      if (!row) return null
      if (what === 'work') return retryWork(row)
      if (what === 'delivery') return retryDelivery(row)
      const work = await retryWork(row)
      return work.status === 'nothing_to_retry' ? retryDelivery(row) : work
    },
    get(id) {
      const row = tasks.byId(id)
      return row && toTask(row)
    },
    list(limit, beforeSeq) {
      const rows = tasks.page(limit + 1, beforeSeq)
      const shown = rows.slice(0, limit)
      return {
        tasks: shown.map(toTask),
        nextSeq: rows.length > limit ? (shown.at(-1)?.dispatchedSeq ?? null) : null,
      }
    },
  }
}

/** The last delivery on the chosen channel, if it failed or may not have arrived. */
function undelivered(row: TaskRow, rows: readonly DeliveryRow[]): DeliveryRow | undefined {
  const last = rows.findLast(({ channel }) => channel === row.notify)
  return last?.status === 'failed' || last?.status === 'unknown' ? last : undefined
}

function stateOf(row: TaskRow, rows: readonly DeliveryRow[]): DeliveryState {
  if (rows.length === 0) {
    return row.announced === 0 && (row.status === 'finished' || row.status === 'failed') ? 'pending' : 'none'
  }
  const chosen = rows.filter(({ channel }) => channel === row.notify)
  if (chosen.some(({ status }) => status === 'delivered')) return 'delivered'
  if (isUnderWay(rows)) return 'pending'
  if (rows.some(({ status }) => status === 'delivered')) return 'fallback'
  return rows.some(({ status }) => status === 'unknown') ? 'unknown' : 'failed'
}
