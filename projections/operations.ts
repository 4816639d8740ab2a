import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

/** What the operations report counts, by the minute. */
export type OperationMetric =
  | 'turns'
  | 'turnFailures'
  | 'inputTokens'
  | 'outputTokens'
  | 'cachedTokens'
  | 'usageRecords'
  | 'capsulesWritten'
  | 'manualCompactionSuccesses'
  | 'manualCompactionFailures'
  | 'automaticCompactions'
  | 'automaticCompactionFailures'
  | 'deliveryAttempts'
  | 'deliveryRetries'
  | 'deliverySuccesses'
  | 'deliveryFailedAttempts'
  | 'deliveryFinalFailures'
  | 'memoriesSurfaced'
  | 'memoriesSuppressed'
  | 'lateSurfaced'
  | 'lateDuplicate'
  | 'lateIrrelevant'
  | 'lateExpired'

/** Counts by minute, so that thirty days of a ledger of any length are summed in milliseconds. */
export const operationsProjection = defineProjection({
  name: 'operations',
  version: 1,
  tables: ['operations'],
  schema: `CREATE TABLE operations (minute TEXT NOT NULL, metric TEXT NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (minute, metric)) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const upsert = db.prepare(`INSERT INTO operations VALUES (?, ?, ?)
      ON CONFLICT (minute, metric) DO UPDATE SET count = count + excluded.count`)
    const add = (at: string, metric: OperationMetric, count = 1): void => {
      if (count > 0) upsert.run(minuteOf(at), metric, count)
    }
    return {
      handlers: {
        'turn.completed': ({ at, facts: { usage } }) => {
          add(at, 'turns')
          add(at, 'inputTokens', usage.inputTokens)
          add(at, 'outputTokens', usage.outputTokens)
          add(at, 'cachedTokens', usage.cachedTokens)
        },
        'turn.failed': ({ at, facts }) => {
          if (facts.kind !== 'stopped') add(at, 'turnFailures')
        },
        'context.usage.recorded': ({ at }) => add(at, 'usageRecords'),
        'context.capsule.written': ({ at }) => add(at, 'capsulesWritten'),
        'context.compaction.succeeded': ({ at, facts }) =>
          add(at, facts.source === 'manual' ? 'manualCompactionSuccesses' : 'automaticCompactions'),
        'context.compaction.failed': ({ at, facts }) =>
          add(at, facts.source === 'manual' ? 'manualCompactionFailures' : 'automaticCompactionFailures'),
        'delivery.attempted': ({ at, facts }) => {
          add(at, 'deliveryAttempts')
          if (facts.attempt > 1) add(at, 'deliveryRetries')
        },
        'delivery.succeeded': ({ at }) => add(at, 'deliverySuccesses'),
        'delivery.failed': ({ at, facts }) => {
          add(at, 'deliveryFailedAttempts')
          if (facts.final) add(at, 'deliveryFinalFailures')
        },
        'memory.recalled': ({ at, facts }) => {
          add(at, 'memoriesSurfaced', facts.ids.length)
          if (facts.late) add(at, 'lateSurfaced', facts.ids.length)
        },
        'memory.recall.suppressed': ({ at, facts }) => {
          add(at, 'memoriesSuppressed', facts.ids.length)
          if (!facts.late) return
          if (facts.reason === 'duplicate') add(at, 'lateDuplicate', facts.ids.length)
          if (facts.reason === 'irrelevant') add(at, 'lateIrrelevant', facts.ids.length)
          if (facts.reason === 'expired') add(at, 'lateExpired', facts.ids.length)
        },
      },
    }
  },
})

/** The minute that a moment falls into: the grain of the report. */
export function minuteOf(at: string): string {
  return at.slice(0, 16)
}

/** Counts from `from` (its whole minute) to `to`; a metric that never occurred is absent. */
export function countOperations(
  views: Database,
  from: string,
  to: string,
): Partial<Record<OperationMetric, number>> {
  const rows = views
    .prepare<[string, string], { metric: OperationMetric; count: number }>(
      'SELECT metric, sum(count) AS count FROM operations WHERE minute BETWEEN ? AND ? GROUP BY metric',
    )
    .all(minuteOf(from), minuteOf(to))
  return Object.fromEntries(rows.map(({ metric, count }) => [metric, count]))
}
