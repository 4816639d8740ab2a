import type { NewEvent } from '../../ledger/event.ts'
import type { NotificationQueries, NotificationRow } from '../../projections/notifications.ts'
import { createReactor } from '../lib/reactor.ts'
import { DAY_MS } from '../lib/time.ts'
import type { PushSubscription } from '../settings/push-subscriptions.ts'
import type { Storage } from '../storage/storage.ts'
import { sevenBit } from '../text/plain.ts'
import { quietForMs } from './quiet-hours.ts'

/** A page that is open and in use has reported by then that it has shown it. */
const OPEN_PAGE_MS = 10_000
/** An older one is no news. */
export const NEWS_MS = DAY_MS
export const MAX_UNSEEN = 1_000
/** How late a text may be, after a halt, an outage of the provider or while the service was down. */
const TEXT_WITHIN_MS = 60 * 60_000
const MAX_ATTEMPTS = 5
const MINUTE_MS = 60_000

type Step = { readonly row: NotificationRow; readonly by: 'push' | 'sms'; readonly inMs: number }

export type NotifierOptions = {
  readonly storage: Pick<Storage, 'append' | 'onHeadMoved'>
  readonly queries: NotificationQueries
  readonly subscriptions: () => readonly PushSubscription[]
  /** Where to text reminders that nobody has seen; null if that is not set up. */
  readonly textTo: () => { readonly number: string; readonly afterMinutes: number } | null
  readonly quietHours: () => string | null
  readonly timezone: () => string
  /** What to text about a reminder; null once its words are erased. */
  readonly reminderText: (row: NotificationRow) => string | null
  readonly openPageMs?: number | undefined
  readonly newId: () => string
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
}

/**
 * Takes what an open page has not shown to where the owner may be: first by push to the browsers that want it, then,
 * for a reminder that is still not seen, by text. The outbox delivers both.
 */
export function createNotifier(options: NotifierOptions) {
  const { nowMs, newId, openPageMs = OPEN_PAGE_MS } = options
  const { append, onHeadMoved } = options.storage
  const reactor = createReactor<Step>({
    onHeadMoved,
    areas: ['timer', 'task', 'proposal', 'call', 'sms', 'allowance', 'notification'],
    next: (isTaken) => steps().find((step) => step.inMs <= 0 && !isTaken(laneOf(step))),
    laneOf,
    stepOf: laneOf,
    run,
    dueInMs: () => steps().reduce<number | null>((least, { inMs }) => Math.min(inMs, least ?? inMs), null),
    onFault: options.onFault,
  })

  /** The next step of each notification that has one. */
  function steps(): Step[] {
    const now = nowMs()
    const quietMs = quietForMs(options.quietHours(), options.timezone(), now)
    const subscriptions = options.subscriptions()
    return options.queries
      .unseen(new Date(now - NEWS_MS).toISOString(), MAX_UNSEEN)
      .flatMap((row): Step[] => {
        const ageMs = now - Date.parse(row.at)
        const isReminder = row.kind === 'reminder'
        const found: Step[] = []
        // The owner chose the time of a reminder, so it comes in quiet hours, too.
        if (row.pushedAt === null && devicesFor(row, subscriptions).length > 0)
          found.push({ row, by: 'push', inMs: Math.max(openPageMs - ageMs, isReminder ? 0 : quietMs) })
        const inMs = textInMs(row)
        if (isReminder && row.textedAt === null && inMs !== null) found.push({ row, by: 'sms', inMs })
        return found
      })
  }

  /** The time until a text about a reminder is due, negative afterwards; null if it is too late, or not wanted. */
  function textInMs({ at }: NotificationRow): number | null {
    const textTo = options.textTo()
    if (textTo === null) return null
    const inMs = Date.parse(at) + textTo.afterMinutes * MINUTE_MS - nowMs()
    return inMs > -TEXT_WITHIN_MS ? inMs : null
  }

  /** One that subscribed later has seen the page since. */
  const devicesFor = ({ kind, at }: NotificationRow, subscriptions: readonly PushSubscription[]) =>
    subscriptions.filter(({ kinds, createdAt }) => kinds.includes(kind) && createdAt <= at)

  async function run({ row, by }: Step): Promise<void> {
    if (by === 'push') {
      await append(devicesFor(row, options.subscriptions()).map(({ id }) => request(row, 'push', id, '')))
      return
    }
    const number = options.textTo()?.number
    const text = options.reminderText(row)
    if (number === undefined) return
    if (text === null) await append([seen([row.seq], 'service')])
    else await append([request(row, 'sms', number, sevenBit(text))])
  }

  function request(
    { seq }: NotificationRow,
    channel: 'push' | 'sms',
    target: string,
    text: string,
  ): NewEvent {
    return {
      type: 'delivery.requested',
      actor: 'service',
      channel: 'system',
      key: `notification:${seq}:${channel === 'push' ? target : channel}`,
      causedBy: seq,
      ...(channel === 'sms' && { derivedFrom: [seq] }),
      facts: { deliveryId: newId(), channel, taskId: null, maxAttempts: MAX_ATTEMPTS, notification: seq },
      body: { target, text },
    }
  }

  return {
    start: reactor.start,
    close: reactor.close,
    wake: reactor.wake,
    /** Whether a notification that waits to be sent needs nobody's attention any more: it is seen, or too late. */
    isObsolete(seq: number, by: Step['by']): boolean {
      const row = options.queries.bySeq(seq)
      return !row || row.seenAt !== null || (by === 'sms' && textInMs(row) === null)
    },
  }
}

const laneOf = ({ row, by }: Pick<Step, 'row' | 'by'>) => `${row.seq}:${by}`

/** The owner was there, or nobody needs to see these any more. */
export function seen(seqs: readonly number[], actor: 'owner' | 'service'): NewEvent {
  return {
    type: 'notification.seen',
    actor,
    channel: actor === 'owner' ? 'chat' : 'system',
    facts: { seqs: [...seqs] },
  }
}
