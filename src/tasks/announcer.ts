import type { Appended, NewEvent } from '../../ledger/event.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { LedgerReader } from '../../ledger/reader.ts'
import type { DeliveryQueries, DeliveryRow } from '../../projections/deliveries.ts'
import type { TaskQueries, TaskRow } from '../../projections/tasks.ts'
import { createReactor } from '../lib/reactor.ts'
import { signalFact } from '../lib/signals.ts'
import { chatText, type EndedTask, signalText, smsText } from './wording.ts'

/** A task whose outcome is not announced yet, or a delivery that failed for good. */
type Ended = { readonly row: TaskRow } | { readonly failed: DeliveryRow }

export type Channel = TaskRow['notify']

/** With the backoff, about half a minute. */
const MAX_ATTEMPTS = 5

const INSTEAD: Readonly<Record<Channel, string | null>> = {
  sms: 'It could not be texted to you.',
  webhook: 'It could not be delivered to your webhook.',
  chat: null,
}

/**
 * Announces each ended task: requests its delivery, wakes the delegate with a signal, and falls back to the
 * chat if the delivery fails for good. The backlog is derived from the views. Erased words are not announced.
 */
export function createAnnouncer(options: {
  readonly append: (taskId: string, events: readonly NewEvent[]) => Promise<Appended>
  readonly ledger: LedgerReader
  readonly tasks: TaskQueries
  readonly deliveries: DeliveryQueries
  /** The owner's address on a channel; empty if it is not set up. */
  readonly targetOf: (channel: Channel) => string
  readonly onHeadMoved: SubscribeHead
  readonly newId: () => string
  readonly onFault: (error: unknown) => void
  readonly retryMs?: number | undefined
}) {
  const { append, ledger, tasks, deliveries, newId, retryMs = 1_000 } = options
  const reactor = createReactor<Ended>({
    onHeadMoved: options.onHeadMoved,
    areas: ['task', 'delivery'],
    next(isTaken) {
      const ended = [
        ...tasks.unannounced().map((row): Ended => ({ row })),
        ...deliveries.toFallBack().map((failed): Ended => ({ failed })),
      ]
      return ended.find((each) => !isTaken(laneOf(each)))
    },
    laneOf,
    run: (ended) => ('row' in ended ? announce(ended.row) : fallBack(ended.failed)),
    retryMs: { first: retryMs, longest: 60_000 },
    onFault: options.onFault,
  })

  function read(row: TaskRow): { task: EndedTask; seqs: number[] } {
    const seqs = row.endedSeq === null ? [row.dispatchedSeq] : [row.dispatchedSeq, row.endedSeq]
    const [dispatched, ended] = ledger.readSeqs(seqs)
    const title = dispatched?.type === 'task.dispatched' ? (dispatched.body?.title ?? '') : ''
    const text = ended?.type === 'task.finished' || ended?.type === 'task.failed' ? ended.body?.text : ''
    const task: EndedTask = {
      title: title || 'erased',
      status: row.status === 'finished' ? 'finished' : 'failed',
      kind: row.kind,
      exitCode: row.exitCode,
      text: text ?? '',
    }
    return { task, seqs }
  }

  function request(
    row: TaskRow,
    channel: Channel,
    more: {
      readonly key: string
      readonly fallbackOf?: string
      readonly retryOf?: string
      readonly instead?: string | null
    },
  ): NewEvent {
    const { task, seqs } = read(row)
    const { fallbackOf, retryOf, instead = null } = more
    return {
      type: 'delivery.requested',
      actor: 'service',
      channel: 'system',
      key: more.key,
      causedBy: row.endedSeq ?? row.dispatchedSeq,
      derivedFrom: seqs,
      facts: {
        deliveryId: newId(),
        channel,
        taskId: row.taskId,
        maxAttempts: channel === 'chat' ? 1 : MAX_ATTEMPTS,
        ...(fallbackOf === undefined ? {} : { fallbackOf }),
        ...(retryOf === undefined ? {} : { retryOf }),
      },
      body: {
        target: options.targetOf(channel),
        text: channel === 'chat' ? chatText(task, instead) : channel === 'sms' ? smsText(task) : task.text,
      },
    }
  }

  async function announce(row: TaskRow): Promise<void> {
    const { task, seqs } = read(row)
    await append(row.taskId, [
      request(row, row.notify, { key: `task-delivery:${row.taskId}` }),
      signalFact(
        {
          kind: row.status === 'finished' ? 'task_finished' : 'task_failed',
          mode: 'wake',
          priority: 5,
          dedupKey: `task:${row.taskId}`,
          text: signalText(task, row.notify),
          causedBy: row.endedSeq ?? row.dispatchedSeq,
          derivedFrom: seqs,
        },
        newId(),
      ),
    ])
  }

  async function fallBack(failed: DeliveryRow): Promise<void> {
    const row = failed.taskId === null ? undefined : tasks.byId(failed.taskId)
    if (!row) return
    await append(row.taskId, [
      request(row, 'chat', {
        key: `delivery-fallback:${failed.deliveryId}`,
        fallbackOf: failed.deliveryId,
        instead: INSTEAD[failed.channel],
      }),
    ])
  }

  return {
    start: reactor.start,
    /** Requests a failed delivery again, on the task's channel. */
    async deliverAgain(row: TaskRow, failed: DeliveryRow): Promise<void> {
      await append(row.taskId, [
        request(row, row.notify, {
          key: `delivery-retry:${failed.deliveryId}`,
          retryOf: failed.deliveryId,
        }),
      ])
    },
    close: reactor.close,
  }
}

const laneOf = (ended: Ended) => ('row' in ended ? ended.row.taskId : ended.failed.deliveryId)
