import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { projections } from '../../projections/all.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { compareViews, replay } from '../../src/storage/replay.ts'
import { testDirectory } from '../support/directory.ts'
import { eventTypes, factOf } from '../support/facts.ts'
import { openTestWriter } from '../support/writer.ts'

test('folds an erased fact of any type as if it had never had a body', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  for (const type of eventTypes) {
    for (const fact of fc.sample(factOf(type), { seed: 1, numRuns: 24 }))
      writer.append({ ...fact, key: undefined })
  }
  const { seq: lastSeq } = writer.ledger.head()
  writer.settle()
  // Erase half of the facts of each type; the other half must stay.
  writer.forget(...Array.from({ length: lastSeq }, (_, index) => index + 1).filter((seq) => seq % 2 === 0))
  writer.settle()
  writer.close()

  const ledgerDb = openLedgerReadOnly(directory)
  const replayed = new Database(':memory:')
  replay({ ledger: createReader(ledgerDb), views: replayed, projections })
  const live = openViewsReadOnly(directory)
  const tables = projections.flatMap(({ tables }) => tables)
  expect(compareViews(replayed, live, tables).difference).toBeNull()
  for (const db of [live, replayed, ledgerDb]) db.close()
})
