import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoffMs } from '../../../../web/src/timeline/chat/socket.ts'

test('doubles the delay after each failed attempt, up to 15 seconds', () => {
  const longest = [0, 1, 2, 3, 4, 5, 6, 50].map((attempt) => backoffMs(attempt, () => 1))
  expect(longest).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000])
})

test('adds jitter of up to half of the delay', () => {
  fc.assert(
    fc.property(fc.nat({ max: 20 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, chance) => {
      const waited = backoffMs(attempt, () => chance)
      const step = backoffMs(attempt, () => 1)
      expect(waited).toBeGreaterThanOrEqual(step / 2)
      expect(waited).toBeLessThanOrEqual(step)
    }),
  )
})
