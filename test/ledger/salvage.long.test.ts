// @module-tag long

import fc from 'fast-check'
import { test } from 'vitest'
import { damages, makeLedger, trial } from '../support/damaged-ledger.ts'

test('keeps only what was written and reports the rest, in many ledgers with ten damaged pages', async () => {
  const made = await makeLedger(5000)
  await fc.assert(
    fc.asyncProperty(damages, async (damage) => void (await trial(made, damage))),
    { numRuns: 60 },
  )
})
