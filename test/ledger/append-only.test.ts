import Database from 'better-sqlite3'
import { beforeEach, expect, test } from 'vitest'
import { ledgerFile } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { APPLICATION_ID, FORMAT_VERSION, ledgerSchema } from '../../ledger/schema.ts'
import { verifyChain } from '../../ledger/verify.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter, said } from '../support/writer.ts'

let directory = ''
beforeEach(() => {
  directory = testDirectory()
})

/** An empty ledger in an earlier format. */
function makeLedger(format: number): void {
  const db = new Database(ledgerFile(directory))
  db.exec(ledgerSchema(format))
  db.pragma(`application_id = ${APPLICATION_ID}`)
  db.pragma(`user_version = ${format}`)
  db.exec("INSERT INTO meta VALUES ('ledgerId', 'one')")
  db.close()
}

/** Opens a ledger of four events, the third erasing the second, and runs `sql` from another connection. */
function attempt(
  sql: string,
  prepare: (db: Database.Database) => void = () => undefined,
  format = FORMAT_VERSION,
) {
  makeLedger(format)
  const writer = openTestWriter(directory)
  writer.append(said('tea', { key: 'k1' }))
  writer.append(said('coffee'))
  writer.forget(2)
  writer.append(said('water'))
  const before = writer.ledger.rowsAfter(0, 10)
  const other = new Database(ledgerFile(directory))
  prepare(other)
  const run = () => other.exec(sql)
  return {
    run,
    expectUnchanged() {
      expect(writer.ledger.rowsAfter(0, 10)).toEqual(before)
      expect(verifyChain(createReader(other)).seq).toBe(4)
      other.close()
      writer.close()
    },
  }
}

const copyOf = (seq: string, id: string, key: string) =>
  `SELECT ${seq}, ${id}, ${key}, type, version, 'forged', conversationId, spanId, turnId, causedBy, derivedFrom, channel,
    actor, facts, body, salt, bodyDigest, hash FROM events WHERE seq = 1`

const updates = [
  'seq = 9',
  "id = 'x'",
  "key = 'x'",
  "type = 'x'",
  'version = 9',
  "at = 'x'",
  "conversationId = 'x'",
]
  .concat([
    "spanId = 'x'",
    "turnId = 'x'",
    'causedBy = 1',
    "derivedFrom = '[1]'",
    "channel = 'sms'",
    "actor = 'guest'",
  ])
  .concat(['facts = \'{"a":1}\'', "body = '{}'", 'body = NULL', 'salt = NULL', 'body = NULL, salt = NULL'])
  .concat(["bodyDigest = 'x'", "hash = 'x'"])

const refused = [
  ...updates.map((update) => `UPDATE events SET ${update} WHERE seq = 1`),
  // Even for the erased second event, only its missing body may change.
  'UPDATE events SET body = \'{"text":"forged"}\', salt = \'x\' WHERE seq = 2',
  "UPDATE events SET at = 'x' WHERE seq = 2",
  'UPDATE OR REPLACE events SET id = (SELECT id FROM events WHERE seq = 4) WHERE seq = 1',
  'UPDATE OR REPLACE events SET seq = 4 WHERE seq = 1',
  'DELETE FROM events WHERE seq = 4',
  'DELETE FROM events',
  `INSERT INTO events ${copyOf('9', "'new'", "'new'")}`,
  `INSERT INTO events ${copyOf('0', "'new'", "'new'")}`,
  `INSERT INTO events ${copyOf('-1', "'new'", "'new'")}`,
  `INSERT INTO events ${copyOf('5', "'new'", 'key')}`,
  ...['INSERT OR REPLACE INTO', 'REPLACE INTO'].flatMap((verb) => [
    `${verb} events ${copyOf('1', "'new'", "'new'")}`,
    `${verb} events ${copyOf('1', 'id', 'key')}`,
    `${verb} events ${copyOf('5', "'new'", 'key')}`,
  ]),
  `INSERT INTO events ${copyOf('1', 'id', 'key')} ON CONFLICT (seq) DO UPDATE SET at = 'forged'`,
  `INSERT INTO events ${copyOf('5', "'new'", 'key')} ON CONFLICT (key) WHERE key IS NOT NULL DO UPDATE SET at = 'forged'`,
  'INSERT INTO erasures VALUES (1, 3)',
  'INSERT INTO erasures VALUES (1, 1)',
  'INSERT INTO erasures VALUES (1, 99)',
  'INSERT OR REPLACE INTO erasures VALUES (2, 3)',
  'INSERT INTO erasures VALUES (2, 3) ON CONFLICT (seq) DO UPDATE SET erasedBy = 4',
  'UPDATE erasures SET seq = 1',
  'UPDATE erasures SET erasedBy = 4',
  'DELETE FROM erasures',
]

/** With unique ids, a row could be replaced by its id. */
const refusedById = [
  `INSERT INTO events ${copyOf('5', 'id', "'new'")}`,
  `INSERT OR REPLACE INTO events ${copyOf('5', 'id', "'new'")}`,
  `REPLACE INTO events ${copyOf('5', 'id', "'new'")}`,
  `INSERT INTO events ${copyOf('5', 'id', "'new'")} ON CONFLICT (id) DO UPDATE SET at = 'forged'`,
]

const refusals = [
  ...refused.map((sql) => ({ format: FORMAT_VERSION, sql })),
  ...refusedById.map((sql) => ({ format: 1, sql })),
]

test('uses the same guards in every format, except for the unique ids of the first', () => {
  const statements = (format: number) => ledgerSchema(format).split(/;\s*/)
  const ofFirst = statements(1).filter((each) => !each.includes('id = NEW.id'))
  expect(ofFirst.map((each) => each.replace('id TEXT NOT NULL UNIQUE', 'id TEXT NOT NULL'))).toEqual(
    statements(FORMAT_VERSION),
  )
})

test.each(refusals)('refuses to another connection, in format $format: $sql', ({ format, sql }) => {
  const { run, expectUnchanged } = attempt(sql, () => undefined, format)
  expect(run).toThrow(/append-only|erasure/)
  expectUnchanged()
})

test.each(refusals)(
  'refuses it with recursive_triggers on as well, in format $format: $sql',
  ({ format, sql }) => {
    const { run, expectUnchanged } = attempt(sql, (db) => db.pragma('recursive_triggers = ON'), format)
    expect(run).toThrow(/append-only|erasure/)
    expectUnchanged()
  },
)

test.each(refusedById.slice(0, 3))(
  'replaces nothing with non-unique ids, and shows in the chain: %s',
  (sql) => {
    makeLedger(2)
    const writer = openTestWriter(directory)
    writer.append(said('tea', { key: 'k1' }), said('coffee'), said('water'), said('milk'))
    const before = writer.ledger.rowsAfter(0, 10)
    const other = new Database(ledgerFile(directory))
    other.exec(sql)
    expect(writer.ledger.rowsAfter(0, 4)).toEqual(before)
    expect(() => verifyChain(createReader(other))).toThrow(expect.objectContaining({ seq: 5 }))
    other.close()
    writer.close()
  },
)

test('refuses OR IGNORE', () => {
  const { run, expectUnchanged } = attempt("UPDATE OR IGNORE events SET at = 'x' WHERE seq = 1")
  expect(run).toThrow(/append-only/)
  expectUnchanged()
})

test('refuses changes to the schema through writable_schema', () => {
  const { run, expectUnchanged } = attempt("DELETE FROM sqlite_schema WHERE type = 'trigger'", (db) =>
    db.pragma('writable_schema = ON'),
  )
  expect(run).toThrow(/may not be modified/)
  expectUnchanged()
})

const tampering = [
  'DROP TRIGGER events_update_guard',
  'DROP TRIGGER erasures_insert_guard',
  'DROP TABLE erasures',
  'ALTER TABLE events ADD COLUMN more TEXT',
  'CREATE TRIGGER more AFTER INSERT ON events BEGIN SELECT 1; END',
]

test.each(tampering)('refuses a ledger after: %s', (sql) => {
  const { run } = attempt(sql, (db) => db.unsafeMode(true))
  run()
  expect(() => openTestWriter(directory)).toThrow(expect.objectContaining({ name: 'LedgerDamaged' }))
})
