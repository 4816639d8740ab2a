// @module-tag long

import { expect, test } from 'vitest'
import { killErasures } from './erasures.ts'
import { IN_MEMORY, inTemporaryDirectory } from './temporary.ts'

test('finishes an erasure and its receipt after kill -9 during the request or the erasing', async () => {
  await inTemporaryDirectory(async (directory) => {
    const { flaws, erased } = await killErasures({ directory, rounds: 1, seed: 4, messages: 6, kills: 1 })
    expect(flaws).toEqual([])
    expect(erased).toBeGreaterThan(6)
  }, IN_MEMORY)
})
