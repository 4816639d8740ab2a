import fc from 'fast-check'
import { expect, test } from 'vitest'
import { leastOf, topSlots } from '../../../src/memory/recall/top.ts'

const someScores = fc.array(fc.constantFrom(0, 0.1, 0.5, 1, 1.5, 7), { maxLength: 60 })

test('equals the top of a full sort, in any order of slots', () => {
  fc.assert(
    fc.property(someScores, fc.nat(20), (scores, count) => {
      const slots = scores.map((_, slot) => slot)
      const sorted = slots
        .filter((slot) => (scores[slot] ?? 0) > 0)
        .sort((a, b) => Math.fround(scores[b] ?? 0) - Math.fround(scores[a] ?? 0) || b - a)
        .slice(0, count)
      expect(topSlots(Float32Array.from(scores), slots, count)).toEqual(sorted)
      expect(topSlots(Float32Array.from(scores), slots.toReversed(), count)).toEqual(sorted)
    }),
  )
})

test('finds a minimum that the requested number of slots reaches, and few more', () => {
  fc.assert(
    fc.property(someScores, fc.integer({ min: 1, max: 60 }), (scores, count) => {
      const slots = scores.map((_, slot) => slot)
      const floats = Float32Array.from(scores)
      const least = leastOf(floats, slots, count)
      const reaching = slots.filter((slot) => (floats[slot] ?? 0) >= least).length
      expect(reaching).toBeGreaterThanOrEqual(Math.min(count, slots.length))
    }),
  )
  const spread = Float32Array.from({ length: 10_000 }, (_, slot) => slot)
  const slots = [...spread.keys()]
  const least = leastOf(spread, slots, 500)
  expect(slots.filter((slot) => slot >= least).length).toBeLessThan(530)
})
