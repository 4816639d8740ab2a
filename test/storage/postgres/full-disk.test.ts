import { expect, test } from 'vitest'
import { testDirectory } from '../../support/directory.ts'
import { openTestWriter, said } from '../../support/writer.ts'

test('a node that cannot follow because its disk is full says so', () => {
  const source = openTestWriter(testDirectory())
  source.append(said('one'), said('x'.repeat(100_000)))
  const rows = source.ledger.rowsAfter(0, 10)
  source.close()
  const writer = openTestWriter(testDirectory())
  const { db } = writer.ledger
  const pages = db.pragma('page_count', { simple: true })
  const limit = db.pragma('max_page_count', { simple: true })
  db.pragma(`max_page_count = ${pages}`)
  expect(() => writer.apply(rows)).toThrow(
    expect.objectContaining({
      name: 'LedgerUnavailable',
      disk: 'full',
      message: expect.stringMatching('The disk is full. Free some space'),
    }),
  )
  expect(writer.ledger.head().seq).toBe(0)
  db.pragma(`max_page_count = ${limit}`)
  writer.apply(rows)
  expect(writer.status().ledgerError).toBeNull()
  expect(writer.ledger.head().seq).toBe(2)
  writer.close()
})
