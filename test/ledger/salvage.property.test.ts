import fc from 'fast-check'
import { expect, test } from 'vitest'
import { damages, makeLedger, trial } from '../support/damaged-ledger.ts'

test('keeps only what was written and reports the rest, with ten damaged pages, and fills from a backup', async () => {
  const made = await makeLedger(2000)
  await fc.assert(
    fc.asyncProperty(damages, async (damage) => {
      const { lost, saved } = await trial(made, damage)
      // A page holds some 10 events, and the log's pages hold some again.
      expect(lost).toBeLessThan(500)
      expect(saved).toBeGreaterThan(1500)
    }),
    { numRuns: 8, seed: 20_261_126 },
  )
})

test('keeps only what was written and reports the rest, in many ledgers with ten damaged pages', {
  tags: ['long'],
}, async () => {
  const made = await makeLedger(5000)
  await fc.assert(
    fc.asyncProperty(damages, async (damage) => void (await trial(made, damage))),
    { numRuns: 60 },
  )
})
