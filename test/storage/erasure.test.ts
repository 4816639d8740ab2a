import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NewEvent } from '../../ledger/event.ts'
import type { EventType } from '../../ledger/events/catalogue.ts'
import { ledgerFile, openLedgerReadOnly, viewsFile } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { verifyChain } from '../../ledger/verify.ts'
import { searchTimeline } from '../../projections/search.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { filesHolding, filesIn, testDirectory } from '../support/directory.ts'
import { exampleOf, factOf, withWords } from '../support/facts.ts'
import { openTestStorage } from '../support/storage.ts'
import { erase, openTestWriter, said } from '../support/writer.ts'

const CANARY = 'canarybird'

const remembered = (derivedFrom: number[]): NewEvent =>
  withWords(exampleOf('memory.stored', { derivedFrom }), CANARY)
const noted = (derivedFrom: number[]): NewEvent =>
  withWords(exampleOf('note.created', { derivedFrom }), `# ${CANARY}\n`.repeat(400))

test('leaves erased words in no file while the service runs: said, remembered, noted or searched', async () => {
  const directory = testDirectory()
  const storage = await openTestStorage(directory)
  await storage.append([said(`my ${CANARY} is called Tweety`)])
  await storage.append([remembered([1]), noted([1])])
  await storage.append([
    {
      type: 'chat.reply.sent',
      actor: 'delegate',
      facts: {},
      body: { text: `the ${CANARY}!` },
      derivedFrom: [2],
    },
  ])
  await storage.append([said('something else')])
  await storage.catchUpLagging()
  const find = () => searchTimeline(storage.views, { query: CANARY, limit: 10, beforeSeq: null })
  expect(find().map(({ seq }) => seq)).toEqual([4, 3, 2, 1])
  expect(filesHolding(directory, CANARY)).not.toEqual([])

  expect(await storage.erase([1, 2, 3, 4], 'owner')).toEqual([1, 2, 3, 4])
  expect(filesHolding(directory, CANARY)).toEqual([])
  expect(find()).toEqual([])
  expect(storage.ledger.readRange(1, 5)).toMatchObject([
    { erased: true, body: null },
    { erased: true, body: null },
    { erased: true, body: null },
    { erased: true, body: null },
    { erased: false, body: { text: 'something else' } },
  ])
  expect(verifyChain(storage.ledger)).toEqual(storage.ledger.head())
  await storage.close()
  expect(filesHolding(directory, CANARY)).toEqual([])
})

test('erases a fact derived from an erased one in the same transaction, at any depth', async () => {
  const directory = testDirectory()
  const storage = await openTestStorage(directory)
  await storage.append([said(`my ${CANARY}`)])
  await storage.erase([1], 'memory_forgotten')
  const late = await storage.append([said('kept'), remembered([1])])
  expect(late).toMatchObject({
    status: 'appended',
    events: [
      { seq: 3, erased: false },
      { seq: 4, erased: true, body: null },
    ],
  })
  expect(storage.ledger.readRange(5, 5)).toMatchObject([
    { type: 'erased', facts: { seqs: [4], reason: 'memory_forgotten' }, causedBy: 2, actor: 'service' },
  ])
  expect(await storage.append([noted([4])])).toMatchObject({ events: [{ seq: 6, erased: true }] })
  await storage.catchUpLagging()
  expect(filesHolding(directory, CANARY)).toEqual([])
  expect(verifyChain(storage.ledger).seq).toBe(7)
})

test('erases what is appended after the erasure of its source, but not what came before', async () => {
  const directory = testDirectory()
  const storage = await openTestStorage(directory)
  await storage.append([said(`my ${CANARY}`)])
  const before = storage.append([remembered([1])])
  const erased = storage.erase([1], 'owner')
  const after = storage.append([noted([1])])
  await Promise.all([before, erased, after])
  expect(await erased).toEqual([1])
  expect(storage.ledger.readSeqs([1, 2])).toMatchObject([{ erased: true }, { erased: false }])
  expect(await after).toMatchObject({ events: [{ erased: true }] })
})

test('erases and appends nothing for facts that are erased already or have no words', async () => {
  const storage = await openTestStorage(testDirectory())
  await storage.append([said('tea'), { type: 'conversation.started', actor: 'owner', facts: {} }])
  expect(await storage.erase([1], 'owner')).toEqual([1])
  expect(await storage.erase([1, 2, 99], 'owner')).toEqual([])
  expect(storage.ledger.head().seq).toBe(3)
})

test('splits an erasure of a thousand events into facts of at most 500', () => {
  const writer = openTestWriter(testDirectory())
  const seqs = Array.from({ length: 1001 }, (_, index) => index + 1)
  writer.append(...seqs.map((seq) => said(`words ${seq}`)))
  expect(writer.forget(...seqs)).toEqual(seqs)
  const facts = writer.ledger.readAfter(1001, 10)
  expect(facts.map((event) => (event.type === 'erased' ? event.facts.seqs.length : 0))).toEqual([500, 500, 1])
  writer.close()
})

test('finishes an erasure after the next start when a crash left words in the logs', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(said(`my ${CANARY}`))
  writer.settle()
  erase(writer, [1], '2030-01-01T00:00:00.000Z')
  expect(filesHolding(directory, CANARY)).not.toEqual([])
  // Another reader keeps the closing connection from truncating the log, as a crash would.
  const reader = openLedgerReadOnly(directory)
  writer.close()
  reader.close()
  const next = openTestWriter(directory)
  next.settle()
  expect(next.isSettled()).toBe(true)
  expect(filesHolding(directory, CANARY)).toEqual([])
  next.close()
})

test('removes erased words from a log that was put in the place of the open one', () => {
  const directory = testDirectory()
  const log = `${ledgerFile(directory)}-wal`
  const writer = openTestWriter(directory)
  writer.append(said(`my ${CANARY}`))
  copyFileSync(log, `${directory}/copy`)
  renameSync(`${directory}/copy`, log)
  expect(writer.ledger.saveLostLog()).toMatchObject({ isSaved: true })
  writer.close()
  const next = openTestWriter(directory)
  next.settle()
  expect(existsSync(`${log}.replaced`)).toBe(true)
  expect(next.forget(1)).toEqual([1])
  expect(filesHolding(directory, CANARY)).toEqual([])
  next.close()
})

test('finds what is said, and removes what is erased, while the indexes are cleaned', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  for (let index = 0; index < 300; index += 1)
    writer.append(said(`my ${CANARY}${index}x`), said(`tea ${index}`))
  writer.settle()
  erase(writer, [1, 3], '2030-01-01T00:00:00.000Z')
  let later = 0
  while (writer.step(1000)) {
    later += 1
    if (later < 20) writer.append(said(`later${later}x`))
    if (later === 2) erase(writer, [5], '2030-01-01T00:00:00.000Z')
  }
  expect(later).toBeGreaterThan(2)
  expect(writer.isSettled()).toBe(true)
  expect(writer.isCaughtUp()).toBe(true)
  const views = openViewsReadOnly(directory)
  const find = (query: string) => searchTimeline(views, { query, limit: 9, beforeSeq: null }).length
  for (let index = 1; index <= Math.min(later, 19); index += 1) expect(find(`later${index}x`)).toBe(1)
  for (const index of [0, 1, 2]) {
    expect(find(`${CANARY}${index}x`)).toBe(0)
    expect(filesHolding(directory, `${CANARY}${index}x`)).toEqual([])
  }
  views.close()
  writer.close()
})

test('records an erasure but does not report it as complete while a reader holds the log', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(said(`my ${CANARY}`))
  const reader = openLedgerReadOnly(directory)
  reader.exec('BEGIN')
  createReader(reader).head()
  writer.forget(1)
  expect(writer.isSettled()).toBe(false)
  expect(writer.ledger.rowAt(1)?.body).toBeNull()
  writer.append(said('appends go on'))
  reader.exec('COMMIT')
  writer.settle()
  expect(writer.isSettled()).toBe(true)
  expect(filesHolding(directory, CANARY)).toEqual([])
  reader.close()
  writer.close()
})

test('empties a projection that stalled before an erasure, because it may hold erased words', () => {
  const directory = testDirectory()
  const hoarder = {
    name: 'hoarder',
    version: 1,
    tables: ['hoard'],
    schema: 'CREATE TABLE hoard (seq INTEGER PRIMARY KEY, text TEXT) STRICT;',
    fold: (db: import('better-sqlite3').Database) => ({
      handlers: {
        'chat.message.received': (event: { seq: number; body: { text: string } | null }) => {
          if (event.body?.text === 'poison') throw new Error('cannot fold this')
          db.prepare('INSERT INTO hoard VALUES (?, ?)').run(event.seq, event.body?.text ?? null)
        },
      },
    }),
  }
  const writer = openTestWriter(directory, { projections: [hoarder] })
  writer.append(said(CANARY))
  writer.append(said('poison'))
  writer.forget(1)
  expect(writer.status().projections).toMatchObject([{ name: 'hoarder', error: 'cannot fold this' }])
  expect(filesHolding(directory, CANARY)).toEqual([])
  writer.close()
})

test('leaves no byte of what is erased, whatever the ledger holds and in any order', () => {
  const types: EventType[] = ['chat.message.received', 'note.created', 'memory.stored', 'chat.reply.sent']
  const anEvent = fc.record({
    fact: fc.oneof(...types.map(factOf)),
    repeats: fc.integer({ min: 0, max: 600 }),
  })
  fc.assert(
    fc.property(
      fc.array(anEvent, { minLength: 40, maxLength: 100, size: 'max' }),
      fc.infiniteStream(fc.nat()),
      (events, picks) => {
        const directory = testDirectory()
        const writer = openTestWriter(directory)
        const pick = (below: number) => picks.next().value % below
        events.forEach(({ fact, repeats }, index) => {
          const words = `<begin${index}> ${'abcdefg '.repeat(repeats)}<end${index}>`
          writer.append(withWords({ ...fact, key: undefined, derivedFrom: [] }, words))
          writer.step(20)
        })
        const left = events.map((_, index) => index)
        const erased: number[] = []
        while (left.length > 0) {
          const now = Array.from({ length: Math.min(left.length, 1 + pick(9)) }, () =>
            left.splice(pick(left.length), 1),
          ).flat()
          writer.forget(...now.map((index) => index + 1))
          erased.push(...now)
          // Later writes move what is left and must not restore erased bytes.
          writer.append(said(`and then ${'hijklmn '.repeat(pick(200))}`))
          writer.step(20)
          writer.settle()
          const bytes = filesIn(directory)
            .map((file) => readFileSync(file, 'latin1'))
            .join('')
          const found = erased.filter((index) => new RegExp(`(begin|end)${index}>`).test(bytes))
          expect(found).toEqual([])
        }
        writer.close()
        expect(readFileSync(ledgerFile(directory), 'latin1')).not.toContain('abcdefg')
        expect(readFileSync(viewsFile(directory), 'latin1')).not.toContain('abcdefg')
      },
    ),
    { numRuns: 6, endOnFailure: true },
  )
})
