import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { closing } from '../../ledger/closing.ts'
import { examineLedger } from '../../ledger/examine.ts'
import { ledgerFile, openLedgerReadOnly } from '../../ledger/files.ts'
import { foreignTables } from '../../ledger/inspect.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter, said } from '../support/writer.ts'

/** What Litestream does when it first sees a database, and with each checkpoint. */
const LITESTREAM = `
  CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
  CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER);
  INSERT INTO _litestream_seq (id, seq) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET seq = seq + 1;`

test('accepts the tables of Litestream, and names them', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(said('before'))
  const other = new Database(ledgerFile(directory))
  other.exec(LITESTREAM)
  writer.append(said('meanwhile'))
  other.exec(LITESTREAM)
  writer.close()
  other.close()

  const again = openTestWriter(directory)
  expect(again.warnings).toEqual([
    {
      message: 'another program keeps tables in ledger.sqlite',
      fields: { tables: ['_litestream_lock', '_litestream_seq'] },
    },
  ])
  again.append(said('after'))
  again.close()
  using db = closing(openLedgerReadOnly(directory))
  expect(examineLedger(db, ledgerFile(directory)).seq).toBe(3)
  expect(foreignTables(db)).toEqual(['_litestream_lock', '_litestream_seq'])
})

test('completes an erasure only after Litestream releases the log', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(said('a secret'))
  const litestream = new Database(ledgerFile(directory))
  litestream.exec(LITESTREAM)
  litestream.exec('BEGIN; SELECT count(*) FROM _litestream_seq')
  litestream.prepare('SELECT count(*) FROM _litestream_seq').get()
  writer.append(said('another'))
  writer.forget(1)
  expect(writer.ledger.truncateLog()).toBe(false)
  litestream.exec('ROLLBACK')
  expect(writer.ledger.truncateLog()).toBe(true)
  litestream.close()
  writer.close()
})

test('reports a foreign trigger as damage, even if a foreign table has its name', () => {
  const directory = testDirectory()
  openTestWriter(directory).close()
  const other = new Database(ledgerFile(directory))
  other.exec('CREATE TABLE aside (seq)')
  other.exec('CREATE TRIGGER aside AFTER INSERT ON events BEGIN INSERT INTO aside VALUES (NEW.seq); END')
  other.close()
  expect(() => openTestWriter(directory)).toThrow(/aside differs from its schema/)
})
