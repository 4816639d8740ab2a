import { copyFileSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { toDraft } from '../../ledger/codec.ts'
import { InvalidEvent, LedgerUnavailable } from '../../ledger/errors.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { ledgerFile } from '../../ledger/files.ts'
import { verifyChain } from '../../ledger/verify.ts'
import { testDirectory } from '../support/directory.ts'
import { newId, openTestWriter, said, type TestWriter } from '../support/writer.ts'

const draft = (event: NewEvent) =>
  toDraft(event, { newId, newSalt: () => 'salt', at: '2030-01-01T00:00:00.000Z' })
const texts = (writer: TestWriter) =>
  writer.ledger
    .readAfter(0, 100)
    .map((event) => (event.type === 'chat.message.received' ? event.body?.text : event.type))

test('returns the existing event for a repeated key and changes nothing', () => {
  const writer = openTestWriter(testDirectory())
  writer.append(said('first', { key: 'k' }))
  expect(writer.append(said('second', { key: 'k' }))).toMatchObject({
    status: 'duplicate',
    existing: { seq: 1, key: 'k' },
  })
  expect(texts(writer)).toEqual(['first'])
  writer.close()
})

test('rejects a whole batch if one of its keys is taken', () => {
  const writer = openTestWriter(testDirectory())
  writer.append(said('first', { key: 'k' }))
  expect(writer.append(said('a'), said('b', { key: 'k' }), said('c'))).toMatchObject({ status: 'duplicate' })
  expect(texts(writer)).toEqual(['first'])
  expect(writer.append(said('a', { key: 'k2' }))).toMatchObject({ status: 'appended' })
  expect(verifyChain(writer.ledger).seq).toBe(2)
  writer.close()
})

test('rejects a batch that repeats a key', () => {
  const writer = openTestWriter(testDirectory())
  expect(writer.append(said('a', { key: 'k' }), said('b', { key: 'k' }))).toMatchObject({
    status: 'rejected',
  })
  expect(texts(writer)).toEqual([])
  writer.close()
})

test('settles each batch of a shared commit on its own: appended, duplicate or rejected', () => {
  const writer = openTestWriter(testDirectory())
  const broken = draft(said('broken', { key: 'twice' }))
  const outcomes = writer.commit([
    [draft(said('a', { key: 'k' })), draft(said('b'))],
    [draft(said('c', { key: 'k' }))],
    [draft(said('d')), broken, broken],
    [draft(said('e', { derivedFrom: [99] }))],
    [draft(said('f'))],
  ])
  expect(outcomes.map(({ status }) => status)).toEqual([
    'appended',
    'duplicate',
    'rejected',
    'rejected',
    'appended',
  ])
  expect(outcomes[1]).toMatchObject({ existing: { seq: 1 } })
  expect(texts(writer)).toEqual(['a', 'b', 'f'])
  expect(verifyChain(writer.ledger)).toEqual(writer.ledger.head())
  writer.close()
})

test('rejects a fact with an unknown field before writing it', () => {
  const smuggled = { ...said('tea'), facts: { text: 'personal' } } as unknown as NewEvent
  expect(() => draft(smuggled)).toThrow(InvalidEvent)
  expect(() => draft({ ...said('tea'), body: undefined } as NewEvent)).toThrow(InvalidEvent)
  expect(() =>
    draft({ type: 'conversation.started', actor: 'owner', facts: {}, body: {} } as unknown as NewEvent),
  ).toThrow(InvalidEvent)
})

test('returns the same events after a restart', () => {
  const directory = testDirectory()
  const words = 'naïve 東京 👩‍👩‍👧 \u0000 "quoted" \n end'
  const first = openTestWriter(directory)
  first.append(
    said(words, { key: 'k', conversationId: 'c', spanId: 's', turnId: 't', causedBy: 7, channel: 'sms' }),
  )
  const head = first.ledger.head()
  first.close()
  const second = openTestWriter(directory)
  expect(second.ledger.head()).toEqual(head)
  expect(second.ledger.readAfter(0, 10)).toMatchObject([
    {
      seq: 1,
      key: 'k',
      conversationId: 'c',
      spanId: 's',
      turnId: 't',
      causedBy: 7,
      channel: 'sms',
      actor: 'owner',
      body: { text: words },
    },
  ])
  second.close()
})

test('reports an unwritable ledger until it is writable again, even without appends', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(said('before', { key: 'k' }))
  expect(writer.status().ledgerError).toBeNull()
  writer.ledger.db.pragma('busy_timeout = 0')
  const blocker = new Database(ledgerFile(directory))
  blocker.exec('BEGIN IMMEDIATE')
  expect(() => writer.append(said('refused'))).toThrow(LedgerUnavailable)
  expect(writer.status().ledgerError).toMatch(/locked/)
  expect(writer.status().ledgerError).toMatch(/locked/)
  blocker.exec('COMMIT')
  blocker.close()
  expect(writer.status().ledgerError).toBeNull()
  expect(writer.append(said('again', { key: 'k' }))).toMatchObject({ status: 'duplicate' })
  expect(writer.append(said('after'))).toMatchObject({ status: 'appended' })
  expect(texts(writer)).toEqual(['before', 'after'])
  expect(verifyChain(writer.ledger).seq).toBe(2)
  writer.close()
})

test('detects a missing file on the next append', () => {
  const directory = join(testDirectory(), 'data')
  const writer = openTestWriter(directory)
  writer.append(said('here'))
  renameSync(directory, `${directory}-away`)
  expect(() => writer.append(said('nowhere'))).toThrow(/moved, deleted or replaced/)
  renameSync(`${directory}-away`, directory)
  expect(writer.append(said('back'))).toMatchObject({ status: 'appended' })
  writer.close()
})

test('refuses appends while its file is moved away, and recovers once it is back', () => {
  const directory = join(testDirectory(), 'data')
  const writer = openTestWriter(directory)
  writer.append(said('here'))
  renameSync(directory, `${directory}-away`)
  expect(writer.ledger.fault()).toMatch(/moved, deleted or replaced/)
  expect(() => writer.append(said('nowhere'))).toThrow(LedgerUnavailable)

  // A copy in its place does not count.
  mkdirSync(directory)
  copyFileSync(ledgerFile(`${directory}-away`), ledgerFile(directory))
  expect(() => writer.append(said('nowhere'))).toThrow(/moved, deleted or replaced/)

  rmSync(directory, { recursive: true })
  renameSync(`${directory}-away`, directory)
  expect(writer.ledger.fault()).toBeNull()
  expect(writer.append(said('back'))).toMatchObject({ status: 'appended' })
  expect(texts(writer)).toEqual(['here', 'back'])
  writer.close()
})
