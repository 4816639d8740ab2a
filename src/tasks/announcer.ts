import type { NewEvent } from '../../ledger/event.ts'
import type { DeliveryRow } from '../../projections/deliveries.ts'
import type { TaskRow } from '../../projections/tasks.ts'
import type { Language } from '../language/languages.ts'
import { english } from '../language/message.ts'
import { inLanguage, translated } from '../language/msg.ts'
import { createReactor } from '../lib/reactor.ts'
import { signalFact } from '../lib/signals.ts'
import type { TaskStore } from './task-store.ts'
import { chatText, type EndedTask, signalText, smsText } from './wording.ts'

/** A task whose outcome is not announced yet, or a delivery that failed for good. */
type Ended = { readonly row: TaskRow } | { readonly failed: DeliveryRow }

export type Channel = TaskRow['notify']

/** With the backoff, about half a minute. */
const MAX_ATTEMPTS = 5

const INSTEAD: Readonly<Record<DeliveryRow['channel'], string | null>> = {
  sms: english`It could not be texted to you.`,
  webhook: english`It could not be delivered to your webhook.`,
  chat: null,
  push: null,
}
const WEBHOOK_NOT_SET_UP = english`It could not be delivered to your webhook, which needs an address and a secret in the settings.`

/**
 * Announces each ended task: requests its delivery, wakes the delegate with a signal, and falls back to the
 * chat if the delivery fails for good. The backlog is derived from the views. Erased words are not announced.
 */
export function createAnnouncer(options: {
  readonly store: TaskStore
  /** The owner's address on a channel; empty if it is not set up. */
  readonly targetOf: (channel: Channel) => string
  readonly language: () => Language
  readonly newId: () => string
  readonly onFault: (error: unknown) => void
}) {
  const { append, tasks, deliveries, onHeadMoved, wordsOf } = options.store
  const { newId } = options
  const reactor = createReactor<Ended>({
    onHeadMoved,
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
    onFault: options.onFault,
  })

  function read(row: TaskRow): { task: EndedTask; seqs: number[] } {
    const { dispatchedSeq, endedSeq, kind, exitCode } = row
    const { title, outcome } = wordsOf(row)
    const status = row.status === 'finished' ? 'finished' : 'failed'
    const task = { title: title || 'erased', status, kind, exitCode, text: outcome ?? '' } as const
    const seqs = endedSeq === null ? [dispatchedSeq] : [dispatchedSeq, endedSeq]
    return { task, seqs }
  }

  function request(
    row: TaskRow,
    channel: Channel,
    key: string,
    origin: { readonly fallbackOf?: string; readonly retryOf?: string } = {},
    instead: string | null = null,
  ): NewEvent {
    const { task, seqs } = read(row)
    return {
      type: 'delivery.requested',
      actor: 'service',
      channel: 'system',
      key,
      causedBy: row.endedSeq ?? row.dispatchedSeq,
      derivedFrom: seqs,
      facts: {
        deliveryId: newId(),
        channel,
        taskId: row.taskId,
        maxAttempts: channel === 'chat' ? 1 : MAX_ATTEMPTS,
        ...origin,
      },
      body: {
        target: options.targetOf(channel),
        text: inLanguage(options.language(), () => {
          if (channel === 'chat') return chatText(task, instead === null ? null : translated(instead))
          return channel === 'sms' ? smsText(task) : task.text
        }),
      },
    }
  }

  async function announce(row: TaskRow): Promise<void> {
    const { task, seqs } = read(row)
    await append(row.taskId, [
      request(row, row.notify, `task-delivery:${row.taskId}`),
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

  async function fallBack({ taskId, deliveryId, channel, kind }: DeliveryRow): Promise<void> {
    const row = taskId === null ? undefined : tasks.byId(taskId)
    if (!row) return
    const origin = { fallbackOf: deliveryId }
    const isNotSetUp = channel === 'webhook' && kind === 'not_configured'
    const instead = isNotSetUp ? WEBHOOK_NOT_SET_UP : INSTEAD[channel]
    await append(row.taskId, [request(row, 'chat', `delivery-fallback:${deliveryId}`, origin, instead)])
  }

  return {
    start: reactor.start,
    /** Requests a failed delivery again, on the task's channel. */
    async deliverAgain(row: TaskRow, { deliveryId }: DeliveryRow): Promise<void> {
      const origin = { retryOf: deliveryId }
      await append(row.taskId, [request(row, row.notify, `delivery-retry:${deliveryId}`, origin)])
    },
    close: reactor.close,
  }
}

const laneOf = (ended: Ended) => ('row' in ended ? ended.row.taskId : ended.failed.deliveryId)
