// @module-tag long

import { expect, test } from 'vitest'
import { failOver } from './engine/failovers.ts'
import { inTemporaryDirectory } from './temporary.ts'

test('loses nothing acknowledged and does nothing twice while nodes and databases fail', async () => {
  await inTemporaryDirectory(async (directory) => {
    const report = await failOver({ directory, rounds: 6, seed: 5, hasRealLease: false })
    expect(report.flaws).toEqual([])
    expect(report).toMatchObject({ rounds: 6, lost: 0, gaps: 0, doubled: 0, secondWriters: 0 })
    // Proves that something was at stake.
    expect(report.failovers).toBeGreaterThan(0)
    for (const count of Object.values(report.acknowledged)) expect(count).toBeGreaterThan(0)
  })
})
