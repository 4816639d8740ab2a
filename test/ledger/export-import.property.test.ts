import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exportLines } from '../../ledger/export.ts'
import { importLines } from '../../ledger/import.ts'
import { openLedger } from '../../ledger/ledger.ts'
import { verifyChain } from '../../ledger/verify.ts'
import { testDirectory } from '../support/directory.ts'
import { aFact, aSeq } from '../support/facts.ts'
import { openTestWriter } from '../support/writer.ts'

async function* linesIn(text: string): AsyncGenerator<string> {
  yield* text.split('\n').slice(0, -1)
}

test('restores any ledger row for row by export and import', { tags: ['long'] }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(aFact, { maxLength: 40, size: 'max' }),
      fc.array(aSeq, { maxLength: 5 }),
      async (facts, seqs) => {
        const directory = testDirectory()
        const writer = openTestWriter(directory)
        for (const fact of facts) writer.append(fact)
        writer.forget(...seqs)
        const text = [...exportLines(writer.ledger.db)].join('')
        const copyDirectory = join(directory, 'copy')
        let copy = writer.ledger
        const header = await importLines(linesIn(text), (ledgerId) => {
          copy = openLedger(copyDirectory, () => ledgerId)
          return copy
        })
        const { seq, hash } = writer.ledger.head()
        expect(header).toMatchObject({ events: seq, headHash: hash, ledgerId: writer.ledger.id() })
        expect(copy.id()).toBe(writer.ledger.id())
        expect(copy.rowsAfter(0, seq + 1)).toEqual(writer.ledger.rowsAfter(0, seq + 1))
        expect(verifyChain(copy)).toEqual(writer.ledger.head())
        expect([...exportLines(copy.db)].join('')).toBe(text)
        copy.close()
        writer.close()
      },
    ),
    { numRuns: 40 },
  )
})
