import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { DiskCause } from '../../ledger/causes.ts'
import { LedgerUnavailable } from '../../ledger/errors.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { haltFile } from '../../src/halt/file.ts'
import { buildHalt } from '../../src/halt/index.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter } from '../support/writer.ts'

/** A halt over a ledger that takes no fact. */
function refusedBy(disk: DiskCause | null) {
  const directory = testDirectory()
  openTestWriter(directory).close()
  const views = openViewsReadOnly(directory)
  const faults: unknown[] = []
  const append = () => Promise.reject(new LedgerUnavailable('it takes nothing', { disk }))
  const halt = buildHalt({
    storage: { append, views, mayAct: () => true },
    directory,
    onFault: (error) => void faults.push(error),
  })
  return { halt, views, faults, isKept: () => existsSync(haltFile(directory)) }
}

test('promises a halt that the disk refuses, and keeps it for the next start', async () => {
  const { halt, views, faults, isKept } = refusedBy('full')
  await halt.halt('browser')
  expect(halt.state()).toEqual({ halted: true, since: null, by: null })
  expect(isKept()).toBe(true)
  expect(faults).toHaveLength(1)
  views.close()
})

test('promises no halt that another machine would not know of', async () => {
  const { halt, views, isKept } = refusedBy(null)
  await expect(halt.halt('browser')).rejects.toThrow('it takes nothing')
  expect(halt.isHalted()).toBe(true)
  expect(isKept()).toBe(false)
  views.close()
})

test('knows whether a halt waits to be recorded while no view can be read', async () => {
  const { halt, views } = refusedBy('full')
  views.close()
  expect(halt.isPending()).toBe(false)
  expect(halt.isHalted).toThrow()
  await expect(halt.halt('browser')).rejects.toThrow()
  expect(halt.isPending()).toBe(true)
})
