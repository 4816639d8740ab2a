import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuseRankings } from '../../../src/memory/recall/fusion.ts'

test('ranks what both rankings have before what one has', () => {
  const fused = fuseRankings([
    { seqs: [1, 2, 3], weight: 2 },
    { seqs: [3, 4], weight: 1 },
  ])
  expect(fused.map(({ seq }) => seq)).toEqual([3, 1, 2, 4])
  expect(fused[0]?.score).toBeCloseTo(2 / 63 + 1 / 61, 12)
})

test('keeps the order and removes duplicates if there is nothing to fuse', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(1000)), fc.uniqueArray(fc.nat(1000)), (first, second) => {
      const alone = fuseRankings([
        { seqs: first, weight: 2 },
        { seqs: [], weight: 1 },
      ])
      expect(alone.map(({ seq }) => seq)).toEqual(first)
      const both = fuseRankings([
        { seqs: first, weight: 2 },
        { seqs: second, weight: 1 },
      ])
      expect(both.map(({ seq }) => seq).sort()).toEqual([...new Set([...first, ...second])].sort())
    }),
  )
})
