import { existsSync, readFileSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { InvalidEvent, LedgerLocked, LedgerUnavailable } from '../../ledger/errors.ts'
import type { NewEvent } from '../../ledger/event.ts'
import { ledgerFile, viewsFile } from '../../ledger/files.ts'
import { scanLog } from '../../ledger/log.ts'
import { verifyChain } from '../../ledger/verify.ts'
import { createTimelineQueries } from '../../projections/timeline-page.ts'
import { openStorage } from '../../src/storage/storage.ts'
import type { Verification } from '../../src/storage/verification.ts'
import { testDirectory } from '../support/directory.ts'
import { inOtherProcess } from '../support/other-process.ts'
import { openTestStorage } from '../support/storage.ts'
import { pageOf } from '../support/timeline-page.ts'
import { newId, said } from '../support/writer.ts'

test('resolves an append once its fact is on disk and in the views', async () => {
  const storage = await openTestStorage(testDirectory())
  const outcome = await storage.append([said('tea', { conversationId: 'c', spanId: 's' }), said('coffee')])
  expect(outcome).toMatchObject({
    status: 'appended',
    events: [{ seq: 1, body: { text: 'tea' } }, { seq: 2 }],
  })
  expect(storage.ledger.readRange(1, 2)).toEqual(outcome.status === 'appended' ? outcome.events : [])
  const page = pageOf(createTimelineQueries(storage.views, storage.ledger))
  expect(page.events.map(({ seq }) => seq)).toEqual([1, 2])
})

test('gives a thousand concurrent appends their own place, in call order', async () => {
  const storage = await openTestStorage(testDirectory())
  const outcomes = await Promise.all(
    Array.from({ length: 1000 }, (_, index) => storage.append([said(`message ${index}`)])),
  )
  const seqs = outcomes.map((outcome) => (outcome.status === 'appended' ? outcome.events[0]?.seq : null))
  expect(seqs).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1))
  expect(verifyChain(storage.ledger).seq).toBe(1000)
})

test('shares commits among appends that arrive together', async () => {
  const directory = testDirectory()
  const storage = await openTestStorage(directory)
  // Blocking the views keeps the thread busy until all appends have arrived.
  const blocker = new Database(viewsFile(directory))
  blocker.exec('BEGIN IMMEDIATE')
  const first = storage.append([said('coffee')])
  await expect.poll(() => storage.ledger.head().seq).toBe(1)
  const rest = Array.from({ length: 200 }, () => storage.append([said('tea')]))
  blocker.exec('COMMIT')
  blocker.close()
  await Promise.all([first, ...rest])
  // Each commit writes at least one page, so 200 separate commits would leave 200 frames.
  expect(scanLog(`${ledgerFile(directory)}-wal`).kept).toBeLessThan(150)
})

test('appends one of several concurrent facts with the same key and returns it to the others', async () => {
  const storage = await openTestStorage(testDirectory())
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, index) => storage.append([said(`try ${index}`, { key: 'k' })])),
  )
  expect(outcomes.filter(({ status }) => status === 'appended')).toHaveLength(1)
  for (const outcome of outcomes.slice(1))
    expect(outcome).toMatchObject({ status: 'duplicate', existing: { seq: 1, body: { text: 'try 0' } } })
})

test('throws to the caller for a fact that does not fit its schema', async () => {
  const storage = await openTestStorage(testDirectory())
  expect(() => storage.append([{ ...said('tea'), body: { text: '' } } as NewEvent])).toThrow(InvalidEvent)
  await expect(storage.append([said('x', { derivedFrom: [5] })])).rejects.toThrow(InvalidEvent)
  expect(storage.ledger.head().seq).toBe(0)
})

test('delivers the facts of all appenders to followers', async () => {
  const storage = await openTestStorage(testDirectory())
  await storage.append([said('before')])
  const abort = new AbortController()
  const seen: number[] = []
  const following = (async () => {
    for await (const event of storage.follow(0, abort.signal)) {
      seen.push(event.seq)
      if (event.seq === 51) abort.abort()
    }
  })()
  await Promise.all(Array.from({ length: 50 }, () => storage.append([said('tea')])))
  await following
  expect(seen).toEqual(Array.from({ length: 51 }, (_, index) => index + 1))
})

test('admits one process per data directory', async () => {
  const directory = testDirectory()
  const storage = await openTestStorage(directory)
  await storage.append([said('tea')])
  const open = `
    import { openStorage } from './src/storage/storage.ts'
    import { createIds } from './ledger/ids.ts'
    const options = { directory: process.env.TEST_DIRECTORY, nowMs: Date.now, newId: createIds(Date.now), onWarning() {}, onFatal() {} }
    try { await (await openStorage(options)).close(); console.log('opened') } catch (error) { console.log(error.name) }`
  expect(inOtherProcess(open, { TEST_DIRECTORY: directory })).toBe('LedgerLocked')
  await storage.close()
  expect(inOtherProcess(open, { TEST_DIRECTORY: directory })).toBe('opened')
})

test('leaves nothing running after a refused start and reports no fatal error', async () => {
  const directory = testDirectory()
  await openTestStorage(directory)
  const fatal: Error[] = []
  const options = {
    directory,
    nowMs: Date.now,
    newId,
    onWarning: () => undefined,
    onFatal: (error: Error) => void fatal.push(error),
  }
  await expect(openStorage(options)).rejects.toThrow(LedgerLocked)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(fatal).toEqual([])
})

test.skipIf(!existsSync('/proc/locks'))(
  'keeps the file locks by which other programs recognise an open ledger',
  async () => {
    const directory = testDirectory()
    const storage = await openTestStorage(directory, { verifyAfterMs: 0 })
    await storage.append([said('one')])
    await storage.catchUpLagging()
    // POSIX drops all of a process's locks on a file when it closes any descriptor of that file.
    for (const file of [ledgerFile(directory), viewsFile(directory)]) {
      const { ino } = statSync(file)
      expect(readFileSync('/proc/locks', 'utf8')).toMatch(
        new RegExp(`POSIX .* READ +${process.pid} \\S+:${ino} `),
      )
    }
  },
)

test('verifies the whole chain after the start and reports the result in the status', async () => {
  const directory = testDirectory()
  const found = Promise.withResolvers<Verification>()
  const before = await openTestStorage(directory, { verifyAfterMs: 3_600_000 })
  expect((await before.status()).verification).toEqual({ status: 'running' })
  await before.close()
  const storage = await openTestStorage(directory, { verifyAfterMs: 0, onVerified: found.resolve })
  expect(await found.promise).toEqual({
    status: 'sound',
    at: expect.any(String),
    head: storage.ledger.head(),
  })
  expect((await storage.status()).verification.status).toBe('sound')
})

test('accepts nothing after close and leaves no write-ahead log', async () => {
  const directory = testDirectory()
  const storage = await openTestStorage(directory)
  const last = storage.append([said('last')])
  await storage.close()
  expect((await last).status).toBe('appended')
  expect(() => storage.append([said('late')])).toThrow(LedgerUnavailable)
  expect(existsSync(`${ledgerFile(directory)}-wal`)).toBe(false)
})

test('orders facts by seq, whatever the clock shows', async () => {
  let nowMs = Date.UTC(2030, 0, 1)
  const storage = await openTestStorage(testDirectory(), { nowMs: () => nowMs })
  const hour = 3_600_000
  for (const jump of [0, -hour, 10 * 365 * 24 * hour, -20 * 365 * 24 * hour, 1]) {
    nowMs += jump
    await storage.append([said('tea', { conversationId: 'c', spanId: `s${jump}` })])
  }
  const page = pageOf(createTimelineQueries(storage.views, storage.ledger), { limit: 3, conversationId: 'c' })
  expect(page.events.map(({ seq }) => seq)).toEqual([3, 4, 5])
  expect(verifyChain(storage.ledger).seq).toBe(5)
  await storage.close()
})
