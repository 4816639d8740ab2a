import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

export type DeliveryRow = {
  deliveryId: string
  /** The event with its text. */
  requestedSeq: number
  channel: 'chat' | 'sms' | 'webhook' | 'push'
  taskId: string | null
  /** `attempted`: in progress, or interrupted by a crash. `waiting`: for its first attempt or a retry. */
  status: 'waiting' | 'attempted' | 'delivered' | 'failed' | 'unknown'
  attempts: number
  maxAttempts: number
  requestedAt: string
  attemptedAt: string | null
  /** Earliest time of the next attempt; null for at once. */
  retryAt: string | null
  endedAt: string | null
  /** Why the last attempt failed. */
  kind: string | null
  fallbackOf: string | null
  retryOf: string | null
  /** Whether a fallback delivery was requested: 0 or 1. */
  fellBack: number
}

export type DeliveryAttemptRow = {
  attempt: number
  startedAt: string
  endedAt: string | null
  /** Null while in progress, or if a crash interrupted it. */
  outcome: 'delivered' | 'failed' | 'unknown' | null
  kind: string | null
}

/** Each delivery from its request to its outcome, with its attempts. */
export const deliveriesProjection = defineProjection({
  name: 'deliveries',
  version: 1,
  tables: ['deliveries', 'delivery_attempts'],
  schema: `
    CREATE TABLE deliveries (
      deliveryId TEXT PRIMARY KEY, requestedSeq INTEGER NOT NULL, channel TEXT NOT NULL, taskId TEXT,
      status TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, maxAttempts INTEGER NOT NULL, requestedAt TEXT NOT NULL,
      attemptedAt TEXT, retryAt TEXT, endedAt TEXT, kind TEXT, fallbackOf TEXT, retryOf TEXT,
      fellBack INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX deliveries_open ON deliveries (requestedSeq) WHERE status IN ('waiting', 'attempted');
    CREATE INDEX deliveries_of_task ON deliveries (taskId, requestedSeq) WHERE taskId IS NOT NULL;
    CREATE INDEX deliveries_failed ON deliveries (requestedSeq)
      WHERE status = 'failed' AND fellBack = 0 AND taskId IS NOT NULL AND channel <> 'chat';
    CREATE TABLE delivery_attempts (
      deliveryId TEXT NOT NULL, attempt INTEGER NOT NULL, startedAt TEXT NOT NULL, endedAt TEXT, outcome TEXT, kind TEXT,
      PRIMARY KEY (deliveryId, attempt)
    ) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const request = db.prepare(`INSERT OR IGNORE INTO deliveries
      (deliveryId, requestedSeq, channel, taskId, status, maxAttempts, requestedAt, fallbackOf, retryOf)
      VALUES (@deliveryId, @seq, @channel, @taskId, 'waiting', @maxAttempts, @at, @fallbackOf, @retryOf)`)
    const fellBack = db.prepare('UPDATE deliveries SET fellBack = 1 WHERE deliveryId = ?')
    const attempt =
      db.prepare(`UPDATE deliveries SET status = 'attempted', attempts = @attempt, attemptedAt = @at,
      retryAt = NULL WHERE deliveryId = @deliveryId AND status IN ('waiting', 'attempted')`)
    const insertAttempt = db.prepare(`INSERT OR IGNORE INTO delivery_attempts (deliveryId, attempt, startedAt)
      VALUES (@deliveryId, @attempt, @at)`)
    const settle = db.prepare(`UPDATE deliveries SET status = @status, kind = @kind, retryAt = @retryAt,
      endedAt = @endedAt WHERE deliveryId = @deliveryId AND status IN ('waiting', 'attempted')`)
    const settleAttempt =
      db.prepare(`UPDATE delivery_attempts SET outcome = @outcome, kind = @kind, endedAt = @at
      WHERE deliveryId = @deliveryId AND attempt = @attempt AND outcome IS NULL`)
    return {
      handlers: {
        'delivery.requested': ({ seq, at, facts }) => {
          const { deliveryId, channel, taskId, maxAttempts, fallbackOf = null, retryOf = null } = facts
          request.run({ seq, at, deliveryId, channel, taskId, maxAttempts, fallbackOf, retryOf })
          if (fallbackOf !== null) fellBack.run(fallbackOf)
        },
        'delivery.attempted': ({ at, facts: { deliveryId, attempt: number } }) => {
          attempt.run({ deliveryId, at, attempt: number })
          insertAttempt.run({ deliveryId, at, attempt: number })
        },
        'delivery.succeeded': ({ at, facts: { deliveryId, attempt: number } }) => {
          settle.run({ deliveryId, status: 'delivered', kind: null, retryAt: null, endedAt: at })
          settleAttempt.run({ deliveryId, attempt: number, at, outcome: 'delivered', kind: null })
        },
        'delivery.failed': ({ at, facts: { deliveryId, attempt: number, kind, final, retryAt } }) => {
          if (final) settle.run({ deliveryId, status: 'failed', kind, retryAt: null, endedAt: at })
          else settle.run({ deliveryId, status: 'waiting', kind, retryAt, endedAt: null })
          settleAttempt.run({ deliveryId, attempt: number, at, outcome: 'failed', kind })
        },
        'delivery.unknown': ({ at, facts: { deliveryId, attempt: number } }) => {
          settle.run({ deliveryId, status: 'unknown', kind: null, retryAt: null, endedAt: at })
          settleAttempt.run({ deliveryId, attempt: number, at, outcome: 'unknown', kind: null })
        },
      },
    }
  },
})

/** Whether a task's deliveries are unfinished: an attempt or a fallback to chat is still due. */
export function isUnderWay(deliveries: readonly DeliveryRow[]): boolean {
  if (deliveries.some(({ status }) => status === 'waiting' || status === 'attempted')) return true
  if (deliveries.some(({ status }) => status === 'delivered')) return false
  return deliveries.some(
    ({ status, channel, fellBack }) => status === 'failed' && channel !== 'chat' && !fellBack,
  )
}

export function createDeliveryQueries(views: Database) {
  const open = views.prepare<[], DeliveryRow>(
    `SELECT * FROM deliveries WHERE status IN ('waiting', 'attempted') ORDER BY requestedSeq`,
  )
  const waiting = views.prepare<[], { channel: DeliveryRow['channel']; count: number }>(
    `SELECT channel, count(*) AS count FROM deliveries WHERE status IN ('waiting', 'attempted') GROUP BY channel`,
  )
  const failed = views.prepare<[], DeliveryRow>(
    `SELECT * FROM deliveries AS failed WHERE status = 'failed' AND fellBack = 0 AND taskId IS NOT NULL AND channel <> 'chat'
     AND NOT EXISTS (SELECT 1 FROM deliveries AS other WHERE other.taskId = failed.taskId AND other.status = 'delivered')
     ORDER BY requestedSeq`,
  )
  const byId = views.prepare<[string], DeliveryRow>('SELECT * FROM deliveries WHERE deliveryId = ?')
  const ofTask = views.prepare<[string], DeliveryRow>(
    'SELECT * FROM deliveries WHERE taskId = ? ORDER BY requestedSeq',
  )
  const attempts = views.prepare<[string], DeliveryAttemptRow>(
    'SELECT attempt, startedAt, endedAt, outcome, kind FROM delivery_attempts WHERE deliveryId = ? ORDER BY attempt',
  )
  return {
    /** Unfinished deliveries, oldest first. */
    open: () => open.all(),
    /** How many are unfinished, by channel. */
    waiting: () => waiting.all(),
    /** Failed for good, without a fallback, and no other delivery of the task succeeded. */
    toFallBack: () => failed.all(),
    byId: (deliveryId: string) => byId.get(deliveryId),
    ofTask: (taskId: string) => ofTask.all(taskId),
    attempts: (deliveryId: string) => attempts.all(deliveryId),
  }
}

export type DeliveryQueries = ReturnType<typeof createDeliveryQueries>
