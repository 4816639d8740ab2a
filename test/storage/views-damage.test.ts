// @module-tag long

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { findDamage } from '../../ledger/damage.ts'
import { ledgerFile, openLedgerReadOnly, viewsFile } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { projections } from '../../projections/all.ts'
import { searchTimeline } from '../../projections/search.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { compareViews, replay } from '../../src/storage/replay.ts'
import { testDirectory } from '../support/directory.ts'
import { eventTypes, exampleOf } from '../support/facts.ts'
import { openTestStorage } from '../support/storage.ts'
import { openTestWriter, said, type TestWriter } from '../support/writer.ts'

const PAGE_BYTES = 4096

function fill(writer: TestWriter): void {
  for (const type of eventTypes) writer.append(exampleOf(type))
  for (let index = 0; index < 40; index += 1)
    writer.append(said(`words ${index} `.repeat(20), { spanId: `s${index % 7}` }))
  writer.settle()
}

function directoryAtRest(): string {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  fill(writer)
  writer.close()
  return directory
}

function expectAsReplayed(directory: string): void {
  const ledgerDb = openLedgerReadOnly(directory)
  const replayed = new Database(':memory:')
  replay({ ledger: createReader(ledgerDb), views: replayed, projections })
  const live = openViewsReadOnly(directory)
  const { difference } = compareViews(
    replayed,
    live,
    projections.flatMap(({ tables }) => tables),
  )
  expect(difference).toBeNull()
  for (const db of [ledgerDb, replayed, live]) db.close()
}

/** Starts on damaged views and expects a rebuild with a single warning. */
function expectRebuilt(directory: string): void {
  const writer = openTestWriter(directory)
  expect(writer.warnings).toMatchObject([
    { message: 'the views are damaged; rebuilding them from the ledger' },
  ])
  writer.append(said('goes on'))
  writer.settle()
  expect(writer.status()).toMatchObject({ viewsError: null })
  writer.close()
  expectAsReplayed(directory)
}

const damages: [string, (file: string) => void][] = [
  ['another file', (file) => writeFileSync(file, 'PK\u0003\u0004'.padEnd(9000, 'x'))],
  ['a directory in its place', replaceByDirectory],
  ['a damaged header', (file) => overwrite(file, 16, 84)],
  ['a damaged schema', (file) => overwrite(file, 100, 3000)],
  [
    'half of it missing',
    (file) => truncateSync(file, Math.floor(readFileSync(file).length / 2 / PAGE_BYTES) * PAGE_BYTES),
  ],
  ['a table dropped', (file) => alter(file, 'DROP TABLE timeline_runs')],
  ['a column dropped', (file) => alter(file, 'ALTER TABLE signals DROP COLUMN kind')],
]

function replaceByDirectory(file: string): void {
  rmSync(file)
  mkdirSync(`${file}/inside`, { recursive: true })
}

function overwrite(file: string, offset: number, length: number): void {
  const bytes = readFileSync(file)
  bytes.fill(0xa5, offset, offset + length)
  writeFileSync(file, bytes)
}

function faultOf(read: () => unknown): unknown {
  try {
    read()
  } catch (error) {
    return error
  }
  throw new Error('the read did not fail')
}

function alter(file: string, sql: string): void {
  const db = new Database(file)
  db.exec(sql)
  db.close()
}

test.each(damages)('rebuilds views with %s at the start', (_, damage) => {
  const directory = directoryAtRest()
  damage(viewsFile(directory))
  expectRebuilt(directory)
})

test('rebuilds views with any damaged page at the start', () => {
  const atRest = directoryAtRest()
  const views = openViewsReadOnly(atRest)
  // A free page holds nothing to damage.
  const pages = views.prepare<[], number>('SELECT pageno - 1 FROM dbstat WHERE pageno > 1').pluck().all()
  views.close()
  expect(pages.length).toBeGreaterThan(50)
  for (const page of pages) {
    const directory = testDirectory()
    cpSync(atRest, directory, { recursive: true })
    overwrite(viewsFile(directory), page * PAGE_BYTES, PAGE_BYTES)
    const writer = openTestWriter(directory)
    expect(writer.warnings, `page ${page}`).toMatchObject([
      { message: 'the views are damaged; rebuilding them from the ledger' },
    ])
    writer.close()
  }
})

test.each([
  ['missing', (file: string) => rmSync(file)],
  ['without checkpoints', (file: string) => alter(file, 'DROP TABLE views_checkpoints')],
  ['without their list', (file: string) => alter(file, 'DROP TABLE views_folds')],
])('rebuilds views that are %s without a warning', (_, lose) => {
  const directory = directoryAtRest()
  lose(viewsFile(directory))
  const writer = openTestWriter(directory)
  expect(writer.warnings).toEqual([])
  writer.settle()
  writer.close()
  expectAsReplayed(directory)
})

test('keeps views that a damaged ledger cannot continue, and refuses a start without them', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  for (let index = 0; index < 1100; index += 1) writer.append(said(`words ${index} `.repeat(1600)))
  writer.settle()
  writer.close()
  const file = ledgerFile(directory)
  for (let page = 40; page < 60; page += 1) overwrite(file, page * PAGE_BYTES, PAGE_BYTES)
  const intact = openTestWriter(directory)
  expect(intact.status()).toMatchObject({ viewsError: null })
  intact.close()
  const before = readFileSync(viewsFile(directory))
  alter(viewsFile(directory), "UPDATE views_folds SET version = 0 WHERE name = 'search'")
  const lagging = openTestWriter(directory)
  lagging.step(1000)
  expect(lagging.status().viewsError).toMatch(/^the ledger is damaged: .*ledger:salvage/)
  expect(lagging.warnings).toMatchObject([{ message: 'the views could not be written' }])
  lagging.close()
  expect(readFileSync(viewsFile(directory)).length).toBeGreaterThan(before.length / 2)

  rmSync(viewsFile(directory))
  expect(() => openTestWriter(directory)).toThrow(/^the ledger is damaged: .*ledger:salvage/)
})

test('keeps views with the page size of an older build', () => {
  const directory = directoryAtRest()
  alter(viewsFile(directory), 'PRAGMA journal_mode = DELETE; PRAGMA page_size = 1024; VACUUM')
  const writer = openTestWriter(directory)
  const last = writer.append(said('on a smaller page'))
  writer.settle()
  expect(writer.warnings).toEqual([])
  const reader = openViewsReadOnly(directory)
  expect(reader.pragma('page_size', { simple: true })).toBe(1024)
  expect(last.status === 'appended' && last.rows[0]?.seq).toBe(writer.viewsSeq())
  reader.close()
  writer.close()
  expectAsReplayed(directory)
})

test('rebuilds the views when their write-ahead log is damaged, checkpointed or not', () => {
  const live = testDirectory()
  const writer = openTestWriter(live)
  fill(writer)
  writer.append(said('in the log'), said('in the log, too'))
  for (const checkpointed of [false, true]) {
    if (checkpointed) alter(viewsFile(live), 'PRAGMA wal_checkpoint(PASSIVE)')
    const directory = testDirectory()
    cpSync(live, directory, { recursive: true, filter: (path) => !path.includes('lock') })
    const log = `${viewsFile(directory)}-wal`
    overwrite(log, Math.floor(readFileSync(log).length / 2), 8)
    expectRebuilt(directory)
  }
  writer.close()
})

test('rebuilds damaged views while running, without closing connections or losing facts', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  fill(writer)
  const reader = openViewsReadOnly(directory)
  const newest = reader.prepare<[], { seq: number }>('SELECT max(lastSeq) AS seq FROM timeline_runs')
  expect(newest.get()?.seq).toBe(writer.ledger.head().seq)

  for (const { pageno } of reader
    .prepare<[], { pageno: number }>("SELECT pageno FROM dbstat WHERE name <> 'sqlite_schema'")
    .all())
    overwrite(viewsFile(directory), (pageno - 1) * PAGE_BYTES, PAGE_BYTES)
  // A write by another connection makes the writer re-read its pages.
  alter(viewsFile(directory), 'PRAGMA user_version = 5')
  expect(writer.append(said('while damaged'))).toMatchObject({ status: 'appended' })
  writer.settle()
  expect(writer.warnings.map(({ message }) => message)).toContain(
    'the views are damaged; rebuilding them from the ledger',
  )
  expect(writer.status()).toMatchObject({ viewsError: null })
  expect(newest.get()?.seq).toBe(writer.ledger.head().seq)
  expect(searchTimeline(reader, { query: 'while damaged', limit: 1, beforeSeq: null })).toHaveLength(1)
  reader.close()
  writer.close()
  expectAsReplayed(directory)
})

test('keeps every fact while the views are not writable, and catches up afterwards', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(said('1'))
  const blocker = new Database(viewsFile(directory))
  blocker.exec('BEGIN IMMEDIATE')
  expect(writer.append(said('2'))).toMatchObject({ status: 'appended' })
  expect(writer.status().viewsError).toMatch(/locked/)
  expect(writer.append(said('2', { key: 'k' }), said('3'))).toMatchObject({ status: 'appended' })
  expect(writer.append(said('again', { key: 'k' }))).toMatchObject({ status: 'duplicate' })
  expect(writer.status().viewsError).toMatch(/locked/)
  expect(writer.isSettled()).toBe(false)
  expect(writer.warnings).toHaveLength(1)
  blocker.exec('COMMIT')
  blocker.close()
  writer.settle()
  expect(writer.status().viewsError).toBeNull()
  expect(existsSync(viewsFile(directory))).toBe(true)
  writer.close()
  expectAsReplayed(directory)
})

test('rebuilds damage that only a reader meets and reports it in the status until then', async () => {
  const directory = directoryAtRest()
  const found = Promise.withResolvers<unknown>()
  const storage = await openTestStorage(directory, { verifyAfterMs: 0, onVerified: found.resolve })
  await found.promise
  await storage.append([said('before')])
  const newest = storage.views.prepare<[], { seq: number }>('SELECT max(lastSeq) AS seq FROM timeline_runs')
  expect(newest.get()?.seq).toBe(storage.ledger.head().seq)
  expect(await storage.status()).toMatchObject({ viewsError: null, damage: null })

  alter(viewsFile(directory), 'PRAGMA wal_checkpoint(TRUNCATE)')
  for (const { pageno } of storage.views
    .prepare<[], { pageno: number }>("SELECT pageno FROM dbstat WHERE name = 'timeline_runs'")
    .all())
    overwrite(viewsFile(directory), (pageno - 1) * PAGE_BYTES, PAGE_BYTES)
  const other = openViewsReadOnly(directory)
  expect(findDamage(other)).not.toBeNull()
  other.close()
  // The connection keeps its cached pages until another one writes.
  storage.views.pragma('shrink_memory')
  storage.reportFault(faultOf(() => newest.get()))
  expect((await storage.status()).damage).toMatch(/malformed/)
  await expect.poll(async () => (await storage.status()).damage, { timeout: 30_000 }).toBeNull()
  expect(storage.warnings.map(({ message }) => message)).toEqual([
    'the views are damaged; rebuilding them from the ledger',
  ])
  await expect.poll(() => newest.get()?.seq, { timeout: 30_000 }).toBe(storage.ledger.head().seq)
  await storage.catchUpLagging()
  await storage.close()
  expectAsReplayed(directory)
})

test('reports ledger damage that only a reader meets in the status', async () => {
  const directory = directoryAtRest()
  const storage = await openTestStorage(directory, { verifyAfterMs: 0 })
  await expect.poll(async () => (await storage.status()).verification.status).toBe('sound')
  const { seq } = storage.ledger.head()
  const root = openLedgerReadOnly(directory)
  const pages = root
    .prepare<[], { pageno: number }>("SELECT pageno FROM dbstat WHERE name = 'events' AND pagetype = 'leaf'")
    .all()
  root.close()
  for (const { pageno } of pages.slice(1, -1))
    overwrite(ledgerFile(directory), (pageno - 1) * PAGE_BYTES, PAGE_BYTES)
  const reader = openLedgerReadOnly(directory)
  storage.reportFault(faultOf(() => createReader(reader).readRange(1, seq)))
  reader.close()
  expect((await storage.status()).damage).toMatch(/malformed/)
  await expect
    .poll(async () => (await storage.status()).verification.status, { timeout: 30_000 })
    .toBe('damaged')
  expect((await storage.status()).damage).toBeNull()
})
