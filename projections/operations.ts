import type { Database } from 'better-sqlite3'
import { type OperationMetric, operationMetrics } from './operation-metrics.ts'
import { defineProjection } from './projection.ts'

/** Metrics that are zero are absent. */
export type Counts = Partial<Record<OperationMetric, number>>

/** Resolution of the counts. A window is a sum of minutes at its edges, then hours, then days. */
export type Grain = 'minute' | 'hour' | 'day'

/** Length of the ISO time prefix that names a bucket. */
const BUCKET_CHARS: Readonly<Record<Grain, number>> = { minute: 16, hour: 13, day: 10 }
const GRAIN_MS: Readonly<Record<Grain, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }
const GRAINS = ['minute', 'hour', 'day'] as const
/** Kinds that count as a failed attempt. Others, such as a missing account, fail without an attempt. */
const PROVIDER_FAILURES: ReadonlySet<string> = new Set([
  'unavailable',
  'rate_limited',
  'credentials',
  'refused',
])

/**
 * Counts by minute, hour and day, so that any window is a sum of at most 200 buckets. Only deliveries of a
 * task's outcome count as deliveries. An attempt that a crash interrupted counts as failed once its delivery
 * continues. `lastSeq` is the last fact whose tokens were counted.
 */
export const operationsProjection = defineProjection({
  name: 'operations',
  version: 9,
  tables: ['operations', 'operation_deliveries'],
  schema: `
    CREATE TABLE operations (grain TEXT NOT NULL, bucket TEXT NOT NULL, lastSeq INTEGER NOT NULL,
      ${operationMetrics.map((metric) => `${metric} INTEGER NOT NULL DEFAULT 0`).join(', ')},
      PRIMARY KEY (grain, bucket)) WITHOUT ROWID, STRICT;
    CREATE TABLE operation_deliveries (deliveryId TEXT PRIMARY KEY, underWay INTEGER NOT NULL) WITHOUT ROWID, STRICT;`,
  fold(db) {
    // The SQL is safe: metric names are constants.
    const upsert = db.prepare(`INSERT INTO operations (grain, bucket, lastSeq, ${operationMetrics.join()})
      VALUES (?, ?, ?, ${operationMetrics.map(() => '?').join()})
      ON CONFLICT (grain, bucket) DO UPDATE SET lastSeq = max(lastSeq, excluded.lastSeq),
        ${operationMetrics.map((metric) => `${metric} = ${metric} + excluded.${metric}`).join()}`)
    /** The current batch's sums per bucket. */
    const added = GRAINS.map((grain) => ({
      grain,
      byBucket: new Map<string, Counts & { lastSeq: number }>(),
    }))
    function addAll(at: string, counts: Counts, seq = 0): void {
      const metrics = operationMetrics.filter((metric) => (counts[metric] ?? 0) > 0)
      if (metrics.length === 0) return
      for (const { grain, byBucket } of added) {
        const bucket = at.slice(0, BUCKET_CHARS[grain])
        const sums = byBucket.get(bucket) ?? { lastSeq: 0 }
        byBucket.set(bucket, sums)
        sums.lastSeq = Math.max(sums.lastSeq, seq)
        for (const metric of metrics) sums[metric] = (sums[metric] ?? 0) + (counts[metric] ?? 0)
      }
    }
    function flush(): void {
      for (const { grain, byBucket } of added) {
        for (const [bucket, sums] of byBucket)
          upsert.run(grain, bucket, sums.lastSeq, ...operationMetrics.map((metric) => sums[metric] ?? 0))
        byBucket.clear()
      }
    }
    const add = (at: string, metric: OperationMetric, count = 1): void => addAll(at, { [metric]: count })
    const request = db.prepare('INSERT OR IGNORE INTO operation_deliveries VALUES (?, 0)')
    const find = db.prepare<[string], { underWay: number }>(
      'SELECT underWay FROM operation_deliveries WHERE deliveryId = ?',
    )
    const set = db.prepare('UPDATE operation_deliveries SET underWay = ? WHERE deliveryId = ?')
    const settle = db.prepare('DELETE FROM operation_deliveries WHERE deliveryId = ?')
    return {
      flush,
      discard() {
        for (const { byBucket } of added) byBucket.clear()
      },
      handlers: {
        'turn.completed': ({ seq, at, facts: { usage, model } }) => {
          const { inputTokens, outputTokens, cachedTokens } = usage
          const builtinTokens = model.provider === 'builtin' ? tokensOf(usage) : 0
          addAll(at, { turns: 1, inputTokens, outputTokens, cachedTokens, builtinTokens }, seq)
        },
        'turn.failed': ({ seq, at, facts }) =>
          addAll(
            at,
            { turnFailures: facts.kind === 'stopped' ? 0 : 1, otherTokens: tokensOf(facts.usage) },
            seq,
          ),
        'memory.extraction.completed': ({ seq, at, facts }) =>
          addAll(at, { otherTokens: tokensOf(facts.usage) }, seq),
        'context.usage.recorded': ({ at }) => add(at, 'usageRecords'),
        'context.capsule.written': ({ seq, at, facts }) =>
          addAll(at, { capsulesWritten: 1, otherTokens: tokensOf(facts.usage) }, seq),
        'context.compaction.succeeded': ({ seq, at, facts }) =>
          addAll(
            at,
            {
              [facts.source === 'manual' ? 'manualCompactionSuccesses' : 'automaticCompactions']: 1,
              otherTokens: tokensOf(facts.usage),
            },
            seq,
          ),
        'context.compaction.failed': ({ at, facts }) =>
          add(at, facts.source === 'manual' ? 'manualCompactionFailures' : 'automaticCompactionFailures'),
        'delivery.requested': ({ facts }) => {
          if (facts.taskId !== null) request.run(facts.deliveryId)
        },
        'delivery.attempted': ({ at, facts: { deliveryId, channel, attempt } }) => {
          if (channel === 'sms') add(at, 'textAttempts')
          const delivery = find.get(deliveryId)
          if (!delivery) return
          if (delivery.underWay) add(at, 'deliveryFailedAttempts')
          add(at, 'deliveryAttempts')
          if (attempt > 1) add(at, 'deliveryRetries')
          set.run(1, deliveryId)
        },
        'delivery.succeeded': ({ at, facts: { deliveryId } }) => {
          const delivery = find.get(deliveryId)
          if (!delivery) return
          if (delivery.underWay) add(at, 'deliverySuccesses')
          settle.run(deliveryId)
        },
        'delivery.failed': ({ at, facts: { deliveryId, channel, kind, final } }) => {
          if (channel === 'sms' && PROVIDER_FAILURES.has(kind)) add(at, 'textFailedAttempts')
          // Nobody needs an obsolete one any more.
          if (channel === 'sms' && final && kind !== 'obsolete') add(at, 'textsNotSent')
          const delivery = find.get(deliveryId)
          if (!delivery) return
          // A delivery can fail without an attempt, for example without an account.
          if (delivery.underWay) add(at, 'deliveryFailedAttempts')
          if (final) {
            add(at, 'deliveryFinalFailures')
            settle.run(deliveryId)
          } else set.run(0, deliveryId)
        },
        'delivery.unknown': ({ at, facts: { deliveryId, channel } }) => {
          if (channel === 'sms') add(at, 'textsNotSent')
          const delivery = find.get(deliveryId)
          if (!delivery) return
          if (delivery.underWay) add(at, 'deliveryFailedAttempts')
          settle.run(deliveryId)
        },
        'sms.undelivered': ({ at }) => add(at, 'textsNotSent'),
        'intrusion.counted': ({ at, facts: { kind, count } }) => {
          if (kind === 'text_over_budget') add(at, 'textsOverBudget', count)
          if (kind === 'call_over_budget') add(at, 'callsOverBudget', count)
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

/** Counts of one bucket; `at` is its start, ISO 8601 UTC. */
export type SeriesPoint = { readonly at: string; readonly counts: Counts }

type Range = { readonly grain: Grain; readonly fromMs: number; readonly toMs: number }

/** Splits a window of whole minutes into ranges of whole buckets; `toMs` is exclusive. */
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

/** The range of whole buckets within a window. */
function within(fromMs: number, toMs: number, grain: Grain): [number, number] {
  const ms = GRAIN_MS[grain]
  return [Math.ceil(fromMs / ms) * ms, Math.floor(toMs / ms) * ms]
}

const bucketAt = (ms: number, grain: Grain): string =>
  new Date(ms).toISOString().slice(0, BUCKET_CHARS[grain])

/** Input and output tokens; 0 if no model was called. */
function tokensOf(
  usage: { readonly inputTokens: number; readonly outputTokens: number } | null | undefined,
): number {
  return usage ? usage.inputTokens + usage.outputTokens : 0
}

export function createOperationQueries(views: Database) {
  const sum = views.prepare<[Grain, string, string], Record<OperationMetric, number | null>>(
    `SELECT ${operationMetrics.map((metric) => `sum(${metric}) AS ${metric}`).join(', ')}
     FROM operations WHERE grain = ? AND bucket >= ? AND bucket < ?`,
  )
  const list = views.prepare<[Grain, string, string], { bucket: string } & Record<OperationMetric, number>>(
    'SELECT * FROM operations WHERE grain = ? AND bucket >= ? AND bucket < ? ORDER BY bucket',
  )
  const tokens = views.prepare<[string, number], { tokens: number | null }>(
    `SELECT sum(inputTokens + outputTokens + otherTokens - builtinTokens) AS tokens FROM operations
     WHERE grain = 'minute' AND bucket > ? AND lastSeq > ?`,
  )
  return {
    /** Input and output tokens, but those of the builtin model, of the minutes after `at` that were last used after `afterSeq`. */
    tokensFrom: (at: string, afterSeq: number) =>
      tokens.get(at.slice(0, BUCKET_CHARS.minute), afterSeq)?.tokens ?? 0,
    /** Counts of a window of whole minutes, `toMs` exclusive. */
    counts(fromMs: number, toMs: number): Counts {
      const counts: Counts = {}
      for (const { grain, ...range } of rangesOf(fromMs, toMs)) {
        const row = sum.get(grain, bucketAt(range.fromMs, grain), bucketAt(range.toMs, grain))
        for (const metric of operationMetrics) {
          const count = row?.[metric] ?? 0
          if (count > 0) counts[metric] = (counts[metric] ?? 0) + count
        }
      }
      return counts
    },
    /** All buckets that overlap a window, including empty ones; each is counted in full. */
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
      for (const row of list.all(grain, bucketAt(firstMs, grain), bucketAt(endMs, grain))) {
        const counts = byBucket.get(row.bucket)
        for (const metric of operationMetrics) if (counts && row[metric] > 0) counts[metric] = row[metric]
      }
      return points
    },
  }
}
