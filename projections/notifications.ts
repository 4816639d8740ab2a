import type { Database } from 'better-sqlite3'
import type { EventOf } from '../ledger/event.ts'
import type { notificationKinds } from '../ledger/events/notification.ts'
import type { SeqRange } from '../ledger/reader.ts'
import { defineProjection } from './projection.ts'

export type NotificationKind = (typeof notificationKinds)[number]

export type NotificationRow = {
  /** The fact that it is about. */
  seq: number
  kind: NotificationKind
  at: string
  /** The timer, task or proposal. */
  subject: string | null
  seenAt: string | null
  /** When it was first pushed to a browser, or texted. */
  pushedAt: string | null
  textedAt: string | null
}

/** Somebody who calls or texts. */
type Coming = 'call.rejected' | 'call.ended' | 'sms.received' | 'sms.ignored'

/** Texts that are ignored because no reply would arrive. */
const UNANSWERABLE: ReadonlySet<EventOf<'sms.ignored'>['facts']['reason']> = new Set([
  'opted_out',
  'unreachable',
])

/** What the owner should notice, and whether they have. */
export const notificationsProjection = defineProjection({
  name: 'notifications',
  version: 3,
  tables: ['notifications'],
  schema: `
    CREATE TABLE notifications (
      seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, at TEXT NOT NULL, subject TEXT, seenAt TEXT, pushedAt TEXT,
      textedAt TEXT
    ) STRICT;
    CREATE INDEX notifications_unseen ON notifications (at) WHERE seenAt IS NULL;
    CREATE INDEX notifications_by_subject ON notifications (subject) WHERE seenAt IS NULL AND subject IS NOT NULL;`,
  fold(db) {
    const insert = db.prepare('INSERT INTO notifications (seq, kind, at, subject) VALUES (?, ?, ?, ?)')
    const see = db.prepare('UPDATE notifications SET seenAt = ? WHERE seq = ? AND seenAt IS NULL')
    const seeSubject = db.prepare('UPDATE notifications SET seenAt = ? WHERE subject = ? AND seenAt IS NULL')
    const push = db.prepare('UPDATE notifications SET pushedAt = coalesce(pushedAt, ?) WHERE seq = ?')
    const text = db.prepare('UPDATE notifications SET textedAt = coalesce(textedAt, ?) WHERE seq = ?')
    const taskEnded = ({ seq, at, facts }: EventOf<'task.finished'> | EventOf<'task.failed'>) =>
      void insert.run(seq, 'task', at, facts.taskId)
    /** The owner's own calls and texts are no news. */
    const guestCame = ({ seq, at, facts }: EventOf<Coming>) => {
      if (facts.party === 'guest') insert.run(seq, 'call', at, null)
    }
    const settled = ({ at, facts }: EventOf<'proposal.confirmed'> | EventOf<'proposal.declined'>) =>
      void seeSubject.run(at, facts.proposalId)
    return {
      handlers: {
        'timer.fired': ({ seq, at, facts }) => void insert.run(seq, 'reminder', at, facts.timerId),
        'task.finished': taskEnded,
        'task.failed': taskEnded,
        'proposal.made': ({ seq, at, facts }) => void insert.run(seq, 'confirmation', at, facts.proposalId),
        'proposal.confirmed': settled,
        'proposal.declined': settled,
        'call.rejected': guestCame,
        'call.ended': guestCame,
        'sms.received': guestCame,
        'sms.ignored': (event) => {
          if (UNANSWERABLE.has(event.facts.reason)) guestCame(event)
        },
        'allowance.reached': ({ seq, at }) => void insert.run(seq, 'budget', at, null),
        'timer.done': ({ at, facts }) => void seeSubject.run(at, facts.timerId),
        'timer.cancelled': ({ at, facts }) => void seeSubject.run(at, facts.timerId),
        'timer.set': ({ at, facts }) => {
          if (facts.snoozes) seeSubject.run(at, facts.snoozes.timerId)
        },
        'notification.seen': ({ at, facts }) => {
          for (const seq of facts.seqs) see.run(at, seq)
        },
        'delivery.requested': ({ at, facts: { channel, notification } }) => {
          if (notification !== undefined) (channel === 'push' ? push : text).run(at, notification)
        },
      },
    }
  },
})

export function createNotificationQueries(views: Database) {
  const bySeq = views.prepare<[number], NotificationRow>('SELECT * FROM notifications WHERE seq = ?')
  const unseen = views.prepare<[string, number], NotificationRow>(
    `SELECT * FROM (SELECT * FROM notifications WHERE seenAt IS NULL AND at >= ? ORDER BY seq DESC LIMIT ?) ORDER BY seq`,
  )
  const countUnseen = views
    .prepare<[string], number>('SELECT count(*) FROM notifications WHERE seenAt IS NULL AND at >= ?')
    .pluck()
  const kindsIn = views
    .prepare<[number, number], NotificationKind>('SELECT kind FROM notifications WHERE seq BETWEEN ? AND ?')
    .pluck()
  return {
    bySeq: (seq: number) => bySeq.get(seq),
    /** The newest ones from a time on, oldest first. */
    unseen: (since: string, limit: number) => unseen.all(since, limit),
    countUnseen: (since: string) => countUnseen.get(since) ?? 0,
    /** The kind of each notification about a fact in the range. */
    kindsIn: ({ firstSeq, lastSeq }: SeqRange) => kindsIn.all(firstSeq, lastSeq),
  }
}

export type NotificationQueries = ReturnType<typeof createNotificationQueries>
