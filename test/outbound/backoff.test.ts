import fc from 'fast-check'
import { expect, test } from 'vitest'
import { outboundPauses, retryDelayMs, untilRetryMs } from '../../src/outbound/backoff.ts'

const MINUTE_MS = 60_000

test('doubles the delay up to half an hour', () => {
  const waits = [1, 2, 3, 4, 5, 10, 11, 100].map((attempt) => retryDelayMs(outboundPauses, attempt, 0.5))
  const longest = 30 * MINUTE_MS
  expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 1_024_000, longest, longest])
})

test('varies the delay by a quarter either way, and honours a requested delay up to an hour', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 0, max: 90 * MINUTE_MS }),
      (attempt, random, askedMs) => {
        const middleMs = retryDelayMs(outboundPauses, attempt, 0.5)
        const askedFor = Math.min(askedMs, 60 * MINUTE_MS)
        const waitMs = retryDelayMs(outboundPauses, attempt, random, askedMs)
        expect(waitMs).toBeGreaterThanOrEqual(Math.max(Math.round(middleMs * 0.75), askedFor))
        expect(waitMs).toBeLessThanOrEqual(Math.max(Math.round(middleMs * 1.25), askedFor))
      },
    ),
  )
})

test('ignores a retry time set by a clock years ahead', () => {
  const nowMs = Date.parse('2026-11-24T12:00:00Z')
  expect(untilRetryMs('2036-11-24T12:00:00Z', nowMs)).toBe(0)
  expect(untilRetryMs('2026-11-24T12:30:00Z', nowMs)).toBe(30 * 60_000)
})
