import { createCallQueries } from '../../projections/calls.ts'
import { createNotificationQueries, type NotificationRow } from '../../projections/notifications.ts'
import type { Language } from '../language/languages.ts'
import { english } from '../language/message.ts'
import { inLanguage, msg, translated } from '../language/msg.ts'
import { ownerNumbersOf } from '../settings/party.ts'
import type { PushSubscription, PushSubscriptions } from '../settings/push-subscriptions.ts'
import type { Settings } from '../settings/settings.ts'
import type { Storage } from '../storage/storage.ts'
import { createNotifier, MAX_UNSEEN, NEWS_MS, seen } from './notifier.ts'
import { isOwnTitle, requestFor } from './own-words.ts'
import { wordsOf } from './words.ts'

/** A text takes no words of others to the owner's phone without a confirmation (0016). */
const WITHOUT_WORDS = english`A reminder is due. Open Delegate to read it.`

export type Notification = Pick<NotificationRow, 'seq' | 'kind' | 'at' | 'subject'> & {
  readonly occurrence: string | null
  readonly title: string
  readonly text: string
}
export type NewSubscription = Pick<PushSubscription, 'endpoint' | 'keys' | 'kinds' | 'sessionId'>
export type Notifications = ReturnType<typeof buildNotifications>

/** Wires notifications: what the owner has not seen, the browsers that are told, and the reactor that tells them. */
export function buildNotifications(options: {
  readonly storage: Storage
  readonly settings: Settings
  readonly subscriptions: PushSubscriptions
  readonly hasTelephony: () => boolean
  readonly openPageMs?: number | undefined
  readonly titleOfTask: (taskId: string) => string
  readonly timezone: () => string
  readonly language: () => Language
  readonly newId: () => string
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
}) {
  const { storage, settings, subscriptions, nowMs } = options
  const { append, ledger, views } = storage
  const queries = createNotificationQueries(views)
  const calls = createCallQueries(views)
  const eventOf = ({ seq }: NotificationRow) => ledger.readSeqs([seq])[0]
  const notifier = createNotifier({
    ...options,
    queries,
    subscriptions: subscriptions.list,
    textTo() {
      const [number] = ownerNumbersOf(settings)
      const afterMinutes = settings.get('REMINDER_TEXT_MINUTES')
      if (number === undefined || afterMinutes === 0 || !options.hasTelephony()) return null
      return { number, afterMinutes }
    },
    quietHours: () => settings.get('QUIET_HOURS'),
    reminderText(row) {
      const event = eventOf(row)
      if (event?.type !== 'timer.fired' || !event.body) return null
      const isOwn = event.derivedFrom.every((seq) => isOwnTitle(ledger, seq))
      const [asked] = event.derivedFrom.flatMap((seq) => requestFor(ledger, seq) ?? [])
      return inLanguage(options.language(), () => {
        if (isOwn) return msg`Reminder: ${event.body?.text}`
        return asked === undefined ? translated(WITHOUT_WORDS) : msg`A reminder is due. You asked: “${asked}”`
      })
    },
  })

  const unsubscribe = settings.subscribe(notifier.wake)

  function present(row: NotificationRow): Notification {
    const { seq, kind, at, subject } = row
    const event = eventOf(row)
    const occurrence = event?.type === 'timer.fired' ? event.facts.occurrence : null
    return { seq, kind, at, subject, occurrence, ...wordsOf(kind, event, options.titleOfTask, calls.bySid) }
  }

  return {
    start: notifier.start,
    isObsolete: notifier.isObsolete,
    async close(): Promise<void> {
      unsubscribe()
      await notifier.close()
    },
    /** What the owner has not seen of the last day, oldest first. */
    unseen: () => queries.unseen(new Date(nowMs() - NEWS_MS).toISOString(), MAX_UNSEEN).map(present),
    find(seq: number): Notification | undefined {
      const row = queries.bySeq(seq)
      return row && present(row)
    },
    /** Records that the owner has seen those that they had not. */
    async see(seqs: readonly number[]): Promise<void> {
      const fresh = [...new Set(seqs)].filter((seq) => queries.bySeq(seq)?.seenAt === null)
      if (fresh.length > 0) await append([seen(fresh, 'owner')])
    },
    /** The VAPID key; null before the first browser subscribes. */
    publicKey: () => subscriptions.keys()?.publicKey ?? null,
    makeKeys: subscriptions.makeKeys,
    subscriptions: subscriptions.list,
    /** Subscribes a browser, or changes its subscription. Idempotent by its endpoint. */
    async subscribe(subscription: NewSubscription): Promise<PushSubscription> {
      const subscriptionId = subscriptions.idFor(subscription.endpoint)
      const { sessionId } = subscription
      if (!subscriptions.find(subscriptionId)) {
        const facts = { subscriptionId, sessionId }
        await append([{ type: 'push.subscribed', actor: 'owner', channel: 'chat', facts }])
      }
      return subscriptions.save(subscriptionId, subscription)
    },
    /** Chooses what a browser is told about. False if there is no such subscription. */
    choose(id: string, kinds: PushSubscription['kinds']): boolean {
      const exists = subscriptions.find(id) !== undefined
      if (exists) subscriptions.setKinds(id, kinds)
      return exists
    },
    /** False if there is no such subscription. */
    async unsubscribe(id: string): Promise<boolean> {
      if (!subscriptions.find(id)) return false
      subscriptions.remove(id)
      const facts = { subscriptionId: id, reason: 'owner' } as const
      await append([{ type: 'push.unsubscribed', actor: 'owner', channel: 'chat', facts }])
      return true
    },
  }
}
