// @module-tag long

import { expect, test } from 'vitest'
import { buildDisk } from './disk.ts'
import { cutPower } from './power.ts'
import { IN_MEMORY, inTemporaryDirectory } from './temporary.ts'

const TRIAL = { rounds: 8, seed: 3, commits: 60 }

test('loses nothing acknowledged in a power cut, and the views catch up', async ({ skip }) => {
  await inTemporaryDirectory((directory) => {
    const library = buildDisk(directory)
    if (library === null) return skip('requires a C compiler and Linux')
    expect(cutPower({ directory, library, ...TRIAL }).flaws).toEqual([])
  }, IN_MEMORY)
})

test('detects a ledger that does not sync each commit', async ({ skip }) => {
  await inTemporaryDirectory((directory) => {
    const library = buildDisk(directory)
    if (library === null) return skip('requires a C compiler and Linux')
    expect(cutPower({ directory, library, ...TRIAL, synchronous: 'NORMAL' }).flaws).not.toEqual([])
  }, IN_MEMORY)
})
