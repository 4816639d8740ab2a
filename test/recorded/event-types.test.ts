import { rmSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { eventTypes } from '../support/facts.ts'
import { NOT_RECORDED } from './event-types.ts'
import { copyData } from './places.ts'

test('holds every event type of the catalogue except those listed with a reason', () => {
  const directory = copyData()
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const db = openLedgerReadOnly(directory)
  const present = new Set(
    createReader(db)
      .readAfter(0, 100_000)
      .map(({ type }) => type),
  )
  db.close()
  const missing = eventTypes.filter((type) => !present.has(type))
  expect(missing.sort()).toEqual(Object.keys(NOT_RECORDED).sort())
})
