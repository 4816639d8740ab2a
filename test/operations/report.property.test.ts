import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LedgerEvent } from '../../ledger/event.ts'
import type { OperationMetric } from '../../projections/operation-metrics.ts'
import { createOperationQueries, operationsProjection, rangesOf } from '../../projections/operations.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const startMs = Date.UTC(2026, 1, 26, 23, 17)

/** The report's tables and their fold. */
function openCounts() {
  const db = new Database(':memory:')
  db.exec(operationsProjection.schema)
  const { handlers, flush } = operationsProjection.fold(db)
  let events = 0
  const apply = (type: string, atMs: number, facts: object) => {
    const handler = handlers[type as keyof typeof handlers] as ((event: LedgerEvent) => void) | undefined
    handler?.({ type, at: new Date(atMs).toISOString(), facts } as LedgerEvent)
    events += 1
    // Flush after batches of three, so that counts written only on a flush are tested as well.
    if (events % 3 === 0) flush?.()
  }
  const settled = () => {
    flush?.()
    return createOperationQueries(db)
  }
  return { apply, settled }
}

const minutes = fc.integer({ min: 0, max: 40 * 24 * 60 })

test('splits a window into whole minutes, hours and days without gaps or overlaps', () => {
  fc.assert(
    fc.property(minutes, fc.integer({ min: 1, max: 31 * 24 * 60 }), (offset, length) => {
      const fromMs = startMs + offset * MINUTE_MS
      const toMs = fromMs + length * MINUTE_MS
      const ranges = rangesOf(fromMs, toMs)
      expect(ranges[0]?.fromMs).toBe(fromMs)
      expect(ranges.at(-1)?.toMs).toBe(toMs)
      ranges.forEach((range, index) => {
        const ms = { minute: MINUTE_MS, hour: HOUR_MS, day: 24 * HOUR_MS }[range.grain]
        expect(range.fromMs % ms).toBe(0)
        expect(range.toMs % ms).toBe(0)
        if (index > 0) expect(range.fromMs).toBe(ranges[index - 1]?.toMs)
      })
      const buckets = ranges.reduce(
        (sum, { grain, ...range }) =>
          sum + (range.toMs - range.fromMs) / { minute: MINUTE_MS, hour: HOUR_MS, day: 24 * HOUR_MS }[grain],
        0,
      )
      expect(buckets).toBeLessThanOrEqual(60 + 60 + 23 + 23 + 31)
    }),
  )
})

test('sums any window, and its course, to the events within', () => {
  fc.assert(
    fc.property(
      fc.array(minutes, { maxLength: 40 }),
      minutes,
      fc.integer({ min: 1, max: 31 * 24 * 60 }),
      (moments, offset, length) => {
        const { apply, settled } = openCounts()
        for (const moment of moments)
          apply('context.capsule.written', startMs + moment * MINUTE_MS + 31_000, {})
        const fromMs = startMs + offset * MINUTE_MS
        const toMs = fromMs + length * MINUTE_MS
        const expected = moments.filter((moment) => moment >= offset && moment < offset + length).length
        const queries = settled()
        expect(queries.counts(fromMs, toMs).capsulesWritten ?? 0).toBe(expected)
        const course = queries.series(fromMs, toMs, 'minute')
        expect(course).toHaveLength(length)
        expect(course.reduce((sum, { counts }) => sum + (counts.capsulesWritten ?? 0), 0)).toBe(expected)
      },
    ),
    { numRuns: 15 },
  )
})

/** The possible ends of an attempt. */
const attemptEnd = fc.constantFrom('succeeded', 'failed', 'unknown', 'crashed')

test('counts each attempt as a success, a failure or in progress', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ ofTask: fc.boolean(), ends: fc.array(attemptEnd, { minLength: 1, maxLength: 5 }) }),
        {
          maxLength: 8,
        },
      ),
      (deliveries) => {
        const { apply, settled } = openCounts()
        const expected: Partial<Record<OperationMetric, number>> = {}
        const add = (metric: OperationMetric) => {
          expected[metric] = (expected[metric] ?? 0) + 1
        }
        deliveries.forEach(({ ofTask, ends }, index) => {
          const deliveryId = `d${index}`
          apply('delivery.requested', startMs, { deliveryId, taskId: ofTask ? 't' : null })
          for (const [at, end] of ends.entries()) {
            const attempt = at + 1
            const isLast = attempt === ends.length
            apply('delivery.attempted', startMs, { deliveryId, attempt })
            if (ofTask) add('deliveryAttempts')
            if (ofTask && attempt > 1) add('deliveryRetries')
            if (end === 'crashed') {
              // A crashed attempt counts as failed once a later event of the delivery follows.
              if (ofTask && !isLast) add('deliveryFailedAttempts')
              continue
            }
            if (end === 'failed') {
              apply('delivery.failed', startMs, { deliveryId, attempt, final: isLast })
              if (ofTask) add('deliveryFailedAttempts')
              if (ofTask && isLast) add('deliveryFinalFailures')
              continue
            }
            apply(end === 'unknown' ? 'delivery.unknown' : 'delivery.succeeded', startMs, {
              deliveryId,
              attempt,
            })
            if (ofTask) add(end === 'unknown' ? 'deliveryFailedAttempts' : 'deliverySuccesses')
            break
          }
        })
        expect(settled().counts(startMs, startMs + MINUTE_MS)).toEqual(expected)
      },
    ),
  )
})
