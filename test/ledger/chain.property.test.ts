import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventRow } from '../../ledger/codec.ts'
import { LedgerDamaged } from '../../ledger/errors.ts'
import { ledgerFile } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { FORMAT_VERSION, ledgerSchema } from '../../ledger/schema.ts'
import { verifyChain } from '../../ledger/verify.ts'
import { testDirectory } from '../support/directory.ts'
import { openTestWriter, said } from '../support/writer.ts'

const EVENTS = 30
const ERASED = 5

/** A closed ledger of 30 messages. The last event erases the fifth. */
function ledgerAtRest(): string {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  for (let index = 1; index < EVENTS; index += 1) {
    writer.append(
      said(`message ${index}`, {
        key: `k${index}`,
        conversationId: 'c',
        spanId: 's',
        turnId: 't',
        causedBy: 1,
        ...(index > 10 ? { derivedFrom: [index - 1] } : {}),
      }),
    )
  }
  writer.forget(ERASED)
  writer.close()
  return directory
}

/** Edits the file as with an SQLite shell: drops the guards, edits, restores the guards. */
function editOffline(directory: string, edit: (db: Database.Database) => void): void {
  const db = new Database(ledgerFile(directory))
  const triggers = [...ledgerSchema(FORMAT_VERSION).matchAll(/CREATE TRIGGER (\w+)[\s\S]*?\nEND;/g)]
  for (const [, name] of triggers) db.exec(`DROP TRIGGER ${name}`)
  edit(db)
  for (const [sql] of triggers) db.exec(sql)
  db.close()
}

function verifyAt(directory: string): unknown {
  const db = new Database(ledgerFile(directory), { readonly: true })
  try {
    return verifyChain(createReader(db))
  } catch (error) {
    return error
  } finally {
    db.close()
  }
}

const columns: readonly (keyof EventRow)[] = [
  'id',
  'key',
  'type',
  'version',
  'at',
  'conversationId',
  'spanId',
  'turnId',
  'causedBy',
  'derivedFrom',
  'channel',
  'actor',
  'facts',
  'body',
  'salt',
  'bodyDigest',
  'hash',
]
const numbers: readonly (keyof EventRow)[] = ['version', 'causedBy']

test('names the seq of an event with any column edited offline', () => {
  const directory = ledgerAtRest()
  const db = new Database(ledgerFile(directory))
  const rows = createReader(db).rowsAfter(0, EVENTS)
  db.close()
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: EVENTS }),
      fc.constantFrom(...columns),
      fc.boolean(),
      (seq, column, toNull) => {
        const original = rows[seq - 1]?.[column]
        const isNullable = [
          'key',
          'conversationId',
          'spanId',
          'turnId',
          'causedBy',
          'derivedFrom',
          'channel',
          'body',
          'salt',
          'bodyDigest',
        ].includes(column)
        const changed = toNull && isNullable ? null : numbers.includes(column) ? 99 : `${original ?? ''}~`
        if (changed === original) return
        const set = (value: unknown) =>
          editOffline(directory, (edited) =>
            edited.prepare(`UPDATE events SET ${column} = ? WHERE seq = ?`).run(value, seq),
          )
        set(changed)
        expect(verifyAt(directory)).toEqual(expect.objectContaining({ name: 'LedgerDamaged', seq }))
        set(original)
        expect(verifyAt(directory)).toEqual(expect.objectContaining({ seq: EVENTS }))
      },
    ),
    { numRuns: 150 },
  )
})

test('names the seq of a removed event', () => {
  const directory = ledgerAtRest()
  editOffline(directory, (db) => db.exec('DELETE FROM events WHERE seq = 12'))
  expect(verifyAt(directory)).toEqual(expect.objectContaining({ name: 'LedgerDamaged', seq: 12 }))
})

test('names the seq of a body removed without an erased fact', () => {
  const directory = ledgerAtRest()
  editOffline(directory, (db) => {
    db.exec('UPDATE events SET body = NULL, salt = NULL WHERE seq = 9')
    db.exec(`INSERT INTO erasures VALUES (9, ${EVENTS})`)
  })
  expect(verifyAt(directory)).toEqual(expect.objectContaining({ name: 'LedgerDamaged', seq: 9 }))
})

test('refuses to start after an edit of the last thousand links, and changes nothing', () => {
  const directory = ledgerAtRest()
  editOffline(directory, (db) => db.exec('UPDATE events SET body = \'{"text":"forged"}\' WHERE seq = 9'))
  expect(() => openTestWriter(directory)).toThrow(LedgerDamaged)
  expect(() => openTestWriter(directory)).toThrow(/event 9 /)
})

test('names the seq of a forged event at the end, even with a hash of its own', () => {
  const directory = ledgerAtRest()
  editOffline(directory, (db) =>
    db.exec(`INSERT INTO events SELECT 31, 'x', 'x', type, version, at, conversationId, spanId, turnId, causedBy,
      derivedFrom, channel, actor, facts, body, salt, bodyDigest, hash FROM events WHERE seq = 29`),
  )
  expect(verifyAt(directory)).toEqual(expect.objectContaining({ name: 'LedgerDamaged', seq: 31 }))
})

test('keeps the chain unchanged by an erasure', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(said('tea'), said('coffee'))
  const before = writer.ledger.hashAt(2)
  writer.forget(1, 2)
  expect(writer.ledger.hashAt(2)).toBe(before)
  expect(verifyChain(writer.ledger)).toEqual(writer.ledger.head())
  writer.close()
})

test('gives equal bodies different digests, so that an erased one cannot be guessed', () => {
  const writer = openTestWriter(testDirectory())
  writer.append(said('yes'), said('yes'))
  const [first, second] = writer.ledger.rowsAfter(0, 2)
  expect(first?.bodyDigest).not.toBe(second?.bodyDigest)
  writer.forget(1)
  expect(writer.ledger.rowAt(1)).toMatchObject({ body: null, salt: null })
  writer.close()
})
