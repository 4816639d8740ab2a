import type { Database } from 'better-sqlite3'
import { defineProjection } from './projection.ts'

/** What the operations report counts. */
export const operationMetrics = [
  'turns',
  'turnFailures',
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'usageRecords',
  'capsulesWritten',
  'manualCompactionSuccesses',
  'manualCompactionFailures',
  'automaticCompactions',
  'automaticCompactionFailures',
  'deliveryAttempts',
  'deliveryRetries',
  'deliverySuccesses',
  'deliveryFailedAttempts',
  'deliveryFinalFailures',
  'memoriesSurfaced',
  'memoriesSuppressed',
  'lateSurfaced',
  'lateDuplicate',
  'lateIrrelevant',
  'lateExpired',
] as const
export type OperationMetric = (typeof operationMetrics)[number]

/** How finely counts are kept. A window is summed from its edges inwards: minutes, whole hours, whole days. */
export type Grain = 'minute' | 'hour' | 'day'

/** The length of an ISO time that names a bucket of each grain. */
const BUCKET_CHARS: Readonly<Record<Grain, number>> = { minute: 16, hour: 13, day: 10 }
const GRAIN_MS: Readonly<Record<Grain, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }
const GRAINS = ['minute', 'hour', 'day'] as const

/**
 * Counts by minute, hour and day, so that a window of any length over a ledger of any length is a sum of at most
 * 200 buckets. Of deliveries, those that tell the owner of a task are counted; an attempt that a crash cut off has
 * failed as soon as anything else is known of its delivery.
 */
export const operationsProjection = defineProjection({
  name: 'operations',
  version: 2,
  tables: ['operations', 'operation_deliveries'],
  schema: `
    CREATE TABLE operations (grain TEXT NOT NULL, bucket TEXT NOT NULL, metric TEXT NOT NULL, count INTEGER NOT NULL,
      PRIMARY KEY (grain, bucket, metric)) WITHOUT ROWID, STRICT;
    CREATE TABLE operation_deliveries (deliveryId TEXT PRIMARY KEY, underWay INTEGER NOT NULL) WITHOUT ROWID, STRICT;`,
  fold(db) {
    const upsert = db.prepare(`INSERT INTO operations VALUES (?, ?, ?, ?)
      ON CONFLICT (grain, bucket, metric) DO UPDATE SET count = count + excluded.count`)
    const add = (at: string, metric: OperationMetric, count = 1): void => {
      if (count <= 0) return
      for (const grain of GRAINS) upsert.run(grain, at.slice(0, BUCKET_CHARS[grain]), metric, count)
    }
    const request = db.prepare('INSERT OR IGNORE INTO operation_deliveries VALUES (?, 0)')
    const find = db.prepare<[string], { underWay: number }>(
      'SELECT underWay FROM operation_deliveries WHERE deliveryId = ?',
    )
    const set = db.prepare('UPDATE operation_deliveries SET underWay = ? WHERE deliveryId = ?')
    const settle = db.prepare('DELETE FROM operation_deliveries WHERE deliveryId = ?')
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
        'delivery.requested': ({ facts }) => {
          if (facts.taskId !== null) request.run(facts.deliveryId)
        },
        'delivery.attempted': ({ at, facts: { deliveryId, attempt } }) => {
          const known = find.get(deliveryId)
          if (!known) return
          if (known.underWay) add(at, 'deliveryFailedAttempts')
          add(at, 'deliveryAttempts')
          if (attempt > 1) add(at, 'deliveryRetries')
          set.run(1, deliveryId)
        },
        'delivery.succeeded': ({ at, facts: { deliveryId } }) => {
          const known = find.get(deliveryId)
          if (!known) return
          if (known.underWay) add(at, 'deliverySuccesses')
          settle.run(deliveryId)
        },
        'delivery.failed': ({ at, facts: { deliveryId, final } }) => {
          const known = find.get(deliveryId)
          if (!known) return
          // Without an attempt, as where no account is set up, there is a failure and no failed attempt.
          if (known.underWay) add(at, 'deliveryFailedAttempts')
          if (final) {
            add(at, 'deliveryFinalFailures')
            settle.run(deliveryId)
          } else set.run(0, deliveryId)
        },
        'delivery.unknown': ({ at, facts: { deliveryId } }) => {
          const known = find.get(deliveryId)
          if (!known) return
          if (known.underWay) add(at, 'deliveryFailedAttempts')
          settle.run(deliveryId)
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

export type Counts = Partial<Record<OperationMetric, number>>

/** Counts of one bucket; `at` is when it begins, ISO 8601 UTC. */
export type SeriesPoint = { readonly at: string; readonly counts: Counts }

type Range = { readonly grain: Grain; readonly fromMs: number; readonly toMs: number }

/** The ranges that a window of whole minutes falls into, each of whole buckets; `toMs` is exclusive. */
export function rangesOf(fromMs: number, toMs: number): Range[] {
  const [hourFrom, hourTo] = within(fromMs, toMs, 'hour')
  if (hourFrom >= hourTo) return [{ grain: 'minute', fromMs, toMs }]
  const [dayFrom, dayTo] = within(hourFrom, hourTo, 'day')
  const inner: Range[] =
    dayFrom >= dayTo
      ? [{ grain: 'hour', fromMs: hourFrom, toMs: hourTo }]
      : [
          { grain: 'hour', fromMs: hourFrom, toMs: dayFrom },
          { grain: 'day', fromMs: dayFrom, toMs: dayTo },
          { grain: 'hour', fromMs: dayTo, toMs: hourTo },
        ]
  return [
    { grain: 'minute' as const, fromMs, toMs: hourFrom },
    ...inner,
    { grain: 'minute' as const, fromMs: hourTo, toMs },
  ].filter((range) => range.fromMs < range.toMs)
}

/** The whole buckets within a stretch. */
function within(fromMs: number, toMs: number, grain: Grain): [number, number] {
  const ms = GRAIN_MS[grain]
  return [Math.ceil(fromMs / ms) * ms, Math.floor(toMs / ms) * ms]
}

const bucketAt = (ms: number, grain: Grain): string =>
  new Date(ms).toISOString().slice(0, BUCKET_CHARS[grain])

/** Queries over the counts, on a connection that reads the views. */
export function createOperationQueries(views: Database) {
  const sum = views.prepare<[Grain, string, string], { metric: OperationMetric; count: number }>(
    'SELECT metric, sum(count) AS count FROM operations WHERE grain = ? AND bucket >= ? AND bucket < ? GROUP BY metric',
  )
  const list = views.prepare<
    [Grain, string, string],
    { bucket: string; metric: OperationMetric; count: number }
  >(
    'SELECT bucket, metric, count FROM operations WHERE grain = ? AND bucket >= ? AND bucket < ? ORDER BY bucket',
  )
  return {
    /** Counts of a window of whole minutes, `toMs` exclusive; a metric that never occurred is absent. */
    counts(fromMs: number, toMs: number): Counts {
      const counts: Counts = {}
      for (const range of rangesOf(fromMs, toMs)) {
        const { grain } = range
        for (const { metric, count } of sum.all(
          grain,
          bucketAt(range.fromMs, grain),
          bucketAt(range.toMs, grain),
        ))
          counts[metric] = (counts[metric] ?? 0) + count
      }
      return counts
    },
    /** The same, bucket by bucket, those without a count included; the first and the last are cut by the window. */
    series(fromMs: number, toMs: number, grain: Grain): SeriesPoint[] {
      const ms = GRAIN_MS[grain]
      const firstMs = Math.floor(fromMs / ms) * ms
      const byBucket = new Map<string, Counts>()
      const points: SeriesPoint[] = []
      for (let atMs = firstMs; atMs < toMs; atMs += ms) {
        const counts: Counts = {}
        byBucket.set(bucketAt(atMs, grain), counts)
        points.push({ at: new Date(atMs).toISOString(), counts })
      }
      const endMs = firstMs + points.length * ms
      for (const { bucket, metric, count } of list.all(
        grain,
        bucketAt(firstMs, grain),
        bucketAt(endMs, grain),
      )) {
        const counts = byBucket.get(bucket)
        if (counts) counts[metric] = count
      }
      return points
    },
  }
}
