import { expect, test } from 'vitest'
import { failOver } from '../../torture/engine/failovers.ts'
import { inTemporaryDirectory } from '../../torture/temporary.ts'

test('another machine takes over from one that is killed, with all that was acknowledged', async () => {
  await inTemporaryDirectory(async (directory) => {
    const options = { directory, rounds: 1, seed: 1, only: ['killHolder'], hasRealLease: false } as const
    const report = await failOver(options)
    expect(report.flaws).toEqual([])
    expect(report).toMatchObject({ failovers: 1, lost: 0, gaps: 0, doubled: 0, secondWriters: 0 })
  })
})
