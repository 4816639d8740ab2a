// @module-tag long

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildDisk } from './disk.ts'
import { failWrites, faultKinds } from './faults.ts'
import { failService } from './faulty-service.ts'
import { fillUp, tightLimit } from './size-limit.ts'
import { IN_MEMORY, inTemporaryDirectory } from './temporary.ts'

const NO_COMPILER = 'requires a C compiler and Linux'

// Fewer places than `npm run torture` tries, but every kind of fault.
test.for(Object.keys(faultKinds) as (keyof typeof faultKinds)[])(
  'keeps what was acknowledged and nothing that was refused: %s',
  { timeout: 240_000 },
  async (name, { skip }) => {
    await inTemporaryDirectory(async (directory) => {
      const library = buildDisk(directory)
      if (library === null) return skip(NO_COMPILER)
      const report = await failWrites({ directory, library, fault: faultKinds[name], first: 11, stride: 397 })
      expect(report.flaws).toEqual([])
      expect(report.faults).toBeGreaterThan(0)
    }, IN_MEMORY)
  },
)

test('answers 503 while the disk fails and replies to the same message afterwards', async ({ skip }) => {
  await inTemporaryDirectory(async (directory) => {
    const library = buildDisk(directory)
    if (library === null) return skip(NO_COMPILER)
    const fault = faultKinds['every operation fails for a while']
    const report = await failService({ directory, library, fault, rounds: 5, seed: 5 })
    expect(report.flaws).toEqual([])
    expect(report.refused).toBeGreaterThan(0)
  })
})

test('loses nothing acknowledged when a file can grow no further', async () => {
  await inTemporaryDirectory((directory) => {
    const report = fillUp(join(directory, 'full'), tightLimit(directory))
    expect(report.flaws).toEqual([])
    expect(report.acknowledged).toBeGreaterThan(0)
    expect(report.refused).toBeGreaterThan(0)
  }, IN_MEMORY)
})
