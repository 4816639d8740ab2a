import { randomBytes } from 'node:crypto'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import { type DeliveryRow, isUnderWay } from '../../projections/deliveries.ts'
import type { TaskRow } from '../../projections/tasks.ts'
import type { Origin } from '../model/tool.ts'
import { cancelledFact, type TaskOutcome } from './task-facts.ts'
import type { TaskStore } from './task-store.ts'

/** `fallback`: delivered by another channel than the chosen one. */
export type DeliveryState = 'none' | 'pending' | 'delivered' | 'fallback' | 'failed' | 'unknown'

/** A task with its words. */
export type Task = ReturnType<typeof readTask>

export type NewTask = {
  readonly title: string
  readonly prompt: string
  readonly notify?: TaskRow['notify'] | undefined
}

/** Who dispatched a task, and the facts behind it. */
export type TaskOrigin = Pick<Origin, 'causedBy' | 'derivedFrom' | 'key'> & { readonly by: TaskRow['by'] }

/** A new task, or an old one whose outcome is delivered again. */
export type Retried = { readonly status: 'dispatched' | 'delivering'; readonly task: Task }

export type Tasks = ReturnType<typeof createTasks>

/** 192 bits, because the id authenticates callbacks. */
const TASK_ID_BYTES = 24

export function createTasks(options: {
  readonly store: TaskStore
  /** Ends the process of a task, and records `outcome` if that failed before. False if there is none. */
  readonly endProcess: (taskId: string, outcome: TaskOutcome) => boolean
  readonly deliverAgain: (row: TaskRow, failed: DeliveryRow) => Promise<void>
  readonly isConfigured: boolean
  readonly defaultChannel: () => TaskRow['notify']
  readonly timeoutMinutes: () => number
}) {
  const { append, tasks, deliveries, wordsOf } = options.store
  const { isConfigured } = options

  const toTask = (row: TaskRow) => readTask(row, options.store)

  /** Queues a task. Resolves once it is durable. Null if there is no coding assistant. */
  async function dispatch(
    { title, prompt, notify = options.defaultChannel() }: NewTask,
    { by, ...envelope }: TaskOrigin,
    retryOf?: string,
  ): Promise<Task | null> {
    if (!isConfigured) return null
    const taskId = randomBytes(TASK_ID_BYTES).toString('base64url')
    const timeoutMinutes = options.timeoutMinutes()
    const result = await append(taskId, [
      {
        type: 'task.dispatched',
        actor: by,
        channel: 'system',
        ...envelope,
        facts: { taskId, notify, timeoutMinutes, by, ...(retryOf === undefined ? {} : { retryOf }) },
        body: { title, prompt },
      },
    ])
    const isNew = result.status === 'appended'
    const event = isNew ? result.events.find(({ type }) => type === 'task.dispatched') : result.existing
    const row = event?.type === 'task.dispatched' ? tasks.byId(event.facts.taskId) : undefined
    if (!row) throw new Error('a task is not in the views right after its fact')
    return toTask(row)
  }

  async function retryWork(row: TaskRow): Promise<Retried | 'not_configured' | null> {
    if (row.status !== 'failed' && row.status !== 'cancelled') return null
    const { title, prompt } = wordsOf(row)
    // The prompt was erased.
    if (prompt === '') return null
    const { notify, dispatchedSeq, taskId } = row
    const task = await dispatch(
      { title, prompt, notify },
      { by: 'owner', causedBy: dispatchedSeq, derivedFrom: [dispatchedSeq], key: `task-retry:${taskId}` },
      taskId,
    )
    return task ? { status: 'dispatched', task } : 'not_configured'
  }

  async function retryDelivery(row: TaskRow): Promise<Retried | null> {
    const failed = undelivered(row, deliveries.ofTask(row.taskId))
    if (!failed) return null
    await options.deliverAgain(row, failed)
    return { status: 'delivering', task: toTask(row) }
  }

  return {
    isConfigured,
    dispatch: (task: NewTask, origin: TaskOrigin) => dispatch(task, origin),
    /** Ends its program, even if the ledger is unavailable: then it throws. False if the task has already ended. */
    async cancel(id: string, by: 'owner' | 'delegate'): Promise<boolean> {
      const row = tasks.byId(id)
      if (row?.status !== 'queued' && row?.status !== 'running') return false
      const hadProcess = options.endProcess(id, { status: 'cancelled', by })
      try {
        const result = await append(id, [cancelledFact(row, by)])
        return result.status === 'appended'
      } catch (error) {
        if (!hadProcess || !(error instanceof LedgerUnavailable)) throw error
        // The program ends, and the runner records why once it can.
        throw new LedgerUnavailable(error.message, { cause: error, disk: error.disk, isUnsure: true })
      }
    },
    /** Retries failed work as a new task, or a failed delivery. Null if there is nothing to retry. */
    async retry(id: string, what?: 'work' | 'delivery'): Promise<Retried | 'not_configured' | null> {
      const row = tasks.byId(id)
      if (!row) return null
      const work = what === 'delivery' ? null : await retryWork(row)
      return work || what === 'work' ? work : retryDelivery(row)
    },
    get(id: string): Task | undefined {
      const row = tasks.byId(id)
      return row && toTask(row)
    },
    /** Newest first; `nextSeq` is the cursor of the next page, null at the end. */
    list(limit: number, beforeSeq: number | null) {
      const rows = tasks.page(limit + 1, beforeSeq)
      const shown = rows.slice(0, limit)
      return {
        tasks: shown.map(toTask),
        nextSeq: rows.length > limit ? (shown.at(-1)?.dispatchedSeq ?? null) : null,
      }
    },
  }
}

function readTask(row: TaskRow, { ledger, deliveries, wordsOf }: TaskStore) {
  const { taskId: id, status, notify, by, timeoutMinutes, retryOf, dispatchedAt, startedAt, endedAt } = row
  const { title, prompt, outcome } = wordsOf(row)
  const [progress] = row.lastProgressSeq === null ? [] : ledger.readSeqs([row.lastProgressSeq])
  const rows = deliveries.ofTask(id)
  return {
    id,
    title,
    prompt,
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
    isolation: row.isolation,
    progressCount: row.progressCount,
    latestProgress:
      progress?.type === 'task.progressed' && progress.body
        ? { at: progress.at, text: progress.body.text }
        : null,
    outcome,
    deliveryState: stateOf(row, rows),
    deliveries: rows.map((delivery) => {
      const {
        deliveryId,
        taskId: _task,
        fellBack: _fell,
        requestedSeq: _seq,
        attempts: _count,
        ...rest
      } = delivery
      return { id: deliveryId, ...rest, attempts: deliveries.attempts(deliveryId) }
    }),
    dispatchedSeq: row.dispatchedSeq,
    endedSeq: row.endedSeq,
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
