import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { verifyChain } from '../../ledger/verify.ts'
import { projections } from '../../projections/all.ts'
import { searchTimeline } from '../../projections/search.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { compareViews, replay } from '../../src/storage/replay.ts'
import { testDirectory } from '../support/directory.ts'
import { aFact, aSeq } from '../support/facts.ts'
import { openTestWriter } from '../support/writer.ts'

const aStep = fc.oneof(
  { weight: 12, arbitrary: fc.record({ append: fc.array(aFact, { minLength: 1, maxLength: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ erase: fc.array(aSeq, { minLength: 1, maxLength: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ index: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 1, arbitrary: fc.constant({ restart: true as const }) },
)

const WORDS_TO_FIND = ['tea', 'coffee', '東', 'naive', 'quoted']

test('replays all projections to the same rows after any facts and erasures', () => {
  fc.assert(
    fc.property(fc.array(aStep, { minLength: 1, maxLength: 60, size: 'max' }), (steps) => {
      const directory = testDirectory()
      let writer = openTestWriter(directory)
      for (const step of steps) {
        if ('append' in step) writer.append(...step.append)
        else if ('erase' in step) writer.forget(...step.erase)
        else if ('index' in step) writer.step(step.index)
        else {
          writer.close()
          writer = openTestWriter(directory)
        }
      }
      writer.settle()
      expect(writer.status().projections.filter(({ error }) => error !== null)).toEqual([])
      writer.close()

      const ledgerDb = openLedgerReadOnly(directory)
      const ledger = createReader(ledgerDb)
      verifyChain(ledger)
      const replayed = new Database(':memory:')
      replay({ ledger, views: replayed, projections })
      const live = openViewsReadOnly(directory)
      const { difference } = compareViews(
        replayed,
        live,
        projections.flatMap(({ tables }) => tables),
      )
      expect(difference).toBeNull()
      const counted = live.prepare('SELECT total(lastSeq - firstSeq + 1) FROM timeline_runs').pluck()
      const imports = ledgerDb.prepare("SELECT count(*) FROM events WHERE type LIKE 'import.%'").pluck()
      expect(counted.get()).toBe(ledger.head().seq - Number(imports.get()))
      for (const query of WORDS_TO_FIND) {
        const found = (views: Database.Database) =>
          searchTimeline(views, { query, limit: 1000, beforeSeq: null })
        expect(found(live)).toEqual(found(replayed))
      }
      for (const db of [live, replayed, ledgerDb]) db.close()

      const indexed = new Database(`${directory}/views.sqlite`)
      indexed.exec("INSERT INTO search_index(search_index, rank) VALUES ('integrity-check', 1)")
      expect(indexed.pragma('integrity_check', { simple: true })).toBe('ok')
      indexed.close()
    }),
    { numRuns: 25 },
  )
})
