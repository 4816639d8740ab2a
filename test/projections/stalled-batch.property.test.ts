import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { projections } from '../../projections/all.ts'
import { defineProjection } from '../../projections/projection.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { compareViews, replay } from '../../src/storage/replay.ts'
import { testDirectory } from '../support/directory.ts'
import { aFact } from '../support/facts.ts'
import { openTestWriter } from '../support/writer.ts'

/** Folds nothing, and throws from `stallSeq` on. */
const stallingAt = (stallSeq: number) =>
  defineProjection({
    name: 'stalling',
    version: 1,
    tables: [],
    schema: '',
    fold: () => ({
      every: ({ seq }) => {
        if (seq >= stallSeq) throw new Error('as asked')
      },
      handlers: {},
    }),
  })

test('folds each batch once in all other projections when one stalls', { tags: ['long'] }, () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(aFact, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 12, size: 'max' }),
      fc.integer({ min: 1, max: 30 }),
      (batches, stallSeq) => {
        const directory = testDirectory()
        const writer = openTestWriter(directory, { projections: [...projections, stallingAt(stallSeq)] })
        for (const batch of batches) writer.append(...batch)
        writer.settle()
        // No other projection stalls or is rebuilt.
        const warnings = writer.warnings.map(({ message, fields }) => [message, fields.projection])
        expect(warnings.filter(([, projection]) => projection !== 'stalling')).toEqual([])
        expect(writer.status().projections.filter(({ error, name }) => error && name !== 'stalling')).toEqual(
          [],
        )
        writer.close()

        const ledgerDb = openLedgerReadOnly(directory)
        const replayed = new Database(':memory:')
        replay({ ledger: createReader(ledgerDb), views: replayed, projections })
        const live = openViewsReadOnly(directory)
        const tables = projections.flatMap(({ tables }) => tables)
        expect(compareViews(replayed, live, tables).difference).toBeNull()
        for (const db of [live, replayed, ledgerDb]) db.close()
      },
    ),
    { numRuns: 40 },
  )
})
