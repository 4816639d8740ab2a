import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { LedgerDamaged } from '../../ledger/errors.ts'
import { ledgerFile, viewsFile } from '../../ledger/files.ts'
import { lockDirectory } from '../../ledger/lock.ts'
import { scanLog } from '../../ledger/log.ts'
import { verifyChain } from '../../ledger/verify.ts'
import { headFile } from '../../ledger/witness.ts'
import { digests, testDirectory } from '../support/directory.ts'
import { openTestWriter, said } from '../support/writer.ts'

const EVENTS = 40

/** Directories as kill -9 leaves them, by the number of events in the log only. Built once, then copied. */
const made = new Map<number, string>()
afterAll(() => {
  for (const directory of made.values()) rmSync(directory, { recursive: true, force: true })
})

function crashedDirectory(inLog = EVENTS): string {
  const crashed = testDirectory()
  const model = made.get(inLog) ?? makeCrashed(inLog)
  cpSync(model, crashed, { recursive: true, force: true })
  return crashed
}

function makeCrashed(inLog: number): string {
  const live = testDirectory()
  const model = mkdtempSync(join(tmpdir(), 'delegate-test-'))
  const writer = openTestWriter(live)
  for (let index = 1; index <= EVENTS; index += 1) {
    if (index === EVENTS - inLog + 1) writer.ledger.truncateLog()
    writer.append(said(`message ${index} ${'words '.repeat(40)}`))
  }
  cpSync(live, model, { recursive: true, filter: (path) => !path.includes('lock.sqlite') })
  writer.close()
  made.set(inLog, model)
  return model
}

const logOf = (directory: string) => `${ledgerFile(directory)}-wal`

function flip(file: string, offset: number, bits = 0xff): void {
  const bytes = readFileSync(file)
  bytes[offset] = (bytes[offset] ?? 0) ^ bits
  writeFileSync(file, bytes)
}

/** Expects a refusal that changes no file, and returns it. */
function expectRefused(directory: string): Error & { seq: number | null } {
  const before = digests(directory)
  let refusal: unknown
  try {
    openTestWriter(directory).close()
  } catch (error) {
    refusal = error
  }
  expect(refusal).toMatchObject({ name: 'LedgerDamaged' })
  expect(digests(directory)).toEqual(before)
  return refusal as Error & { seq: number | null }
}

test('recovers the whole log after a crash', () => {
  const directory = crashedDirectory()
  const writer = openTestWriter(directory)
  expect(verifyChain(writer.ledger).seq).toBe(EVENTS)
  expect(writer.warnings).toEqual([])
  writer.close()
})

test('scans the same part of a log that SQLite recovers', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1 << 30 }), (random) => {
      const directory = crashedDirectory()
      const log = logOf(directory)
      const whole = scanLog(log)
      expect(whole).toMatchObject({ droppedBytes: 0, torn: false })
      flip(log, random % readFileSync(log).length)
      const { kept } = scanLog(log)
      rmSync(`${ledgerFile(directory)}-shm`)
      const db = new Database(ledgerFile(directory))
      const [checkpoint] = db.pragma('wal_checkpoint(PASSIVE)') as { log: number; checkpointed: number }[]
      // SQLite reports the frames up to the last commit that it could recover.
      expect(Math.max(0, checkpoint?.log ?? 0)).toBe(kept)
      db.close()
    }),
    { numRuns: 40 },
  )
})

test('refuses a damaged log if the views had seen more, naming both seqs and touching no file', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1 << 30 }), fc.integer({ min: 1, max: 255 }), (random, bits) => {
      const directory = crashedDirectory(10)
      const log = logOf(directory)
      const header = 32
      flip(log, header + (random % (readFileSync(log).length - header)), bits)
      const refusal = expectRefused(directory)
      expect(refusal.message).toContain(`recorded event ${EVENTS}`)
      expect(refusal.seq).toBeGreaterThan(EVENTS - 10)
      expect(refusal.message).toContain(`ends with event ${(refusal.seq ?? 0) - 1}`)
    }),
    { numRuns: 40 },
  )
})

test('refuses a log with a damaged header', () => {
  for (const offset of [0, 9, 18, 25]) {
    const directory = crashedDirectory(10)
    flip(logOf(directory), offset)
    expect(expectRefused(directory).seq).toBe(EVENTS - 9)
  }
})

test('refuses a log cut within a frame if the views had seen more', () => {
  const directory = crashedDirectory(10)
  truncateSync(logOf(directory), readFileSync(logOf(directory)).length - 100)
  expect(expectRefused(directory).message).toContain(`recorded event ${EVENTS}`)
})

test('treats a torn tail without a witness as a power cut and keeps what precedes it', () => {
  const directory = crashedDirectory(10)
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${viewsFile(directory)}${suffix}`, { force: true })
  rmSync(headFile(directory))
  flip(logOf(directory), readFileSync(logOf(directory)).length - 10)
  const writer = openTestWriter(directory)
  const head = verifyChain(writer.ledger)
  expect(head.seq).toBe(EVENTS - 1)
  writer.append(said('goes on'))
  expect(verifyChain(writer.ledger).seq).toBe(EVENTS)
  writer.close()
})

test('ignores views that belong to another ledger when a log is torn', () => {
  const directory = crashedDirectory(10)
  const other = crashedDirectory(11)
  for (const suffix of ['', '-wal', '-shm'])
    copyFileSync(`${viewsFile(other)}${suffix}`, `${viewsFile(directory)}${suffix}`)
  rmSync(headFile(directory))
  flip(logOf(directory), readFileSync(logOf(directory)).length - 10)
  const writer = openTestWriter(directory)
  expect(writer.ledger.head().seq).toBe(EVENTS - 1)
  expect(writer.warnings).toMatchObject([{ fields: { reason: 'they belong to another ledger' } }])
  writer.close()
})

test('refuses a file that is not an SQLite database, with a clear message', () => {
  const directory = crashedDirectory()
  writeFileSync(ledgerFile(directory), 'PK\u0003\u0004 not a ledger at all'.padEnd(8192, 'x'))
  expect(expectRefused(directory).message).toMatch(/ledger\.sqlite is damaged: it has no SQLite header/)
})

test('refuses an SQLite database of another application', () => {
  const directory = testDirectory()
  const db = new Database(ledgerFile(directory))
  db.exec('CREATE TABLE bookmarks (url TEXT)')
  db.close()
  expect(expectRefused(directory).message).toMatch(/not a Delegate/)
})

test('refuses a ledger of a later format and names the format', () => {
  const directory = testDirectory()
  openTestWriter(directory).close()
  const db = new Database(ledgerFile(directory))
  db.pragma('user_version = 3')
  db.close()
  expect(expectRefused(directory).message).toMatch(/format 3; this build reads formats 1 and 2/)
})

test('refuses a damaged header or page at rest, and touches no file', () => {
  const atRest = testDirectory()
  const writer = openTestWriter(atRest)
  for (let index = 1; index <= EVENTS; index += 1)
    writer.append(said(`message ${index} ${'words '.repeat(40)}`))
  writer.close()
  const pages = Math.floor(readFileSync(ledgerFile(atRest)).length / 4096)
  for (const [offset, length] of [
    [0, 16],
    [16, 84],
    [100, 1000],
    ...Array.from({ length: pages - 1 }, (_, page) => [(page + 1) * 4096, 4096]),
  ] as [number, number][]) {
    const directory = testDirectory()
    cpSync(atRest, directory, { recursive: true })
    const bytes = readFileSync(ledgerFile(directory))
    bytes.fill(0xa5, offset, offset + length)
    writeFileSync(ledgerFile(directory), bytes)
    expect(expectRefused(directory).message).toMatch(/damaged|not what was written|missing/)
  }
})

test('refuses a truncated ledger', () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  for (let index = 1; index <= EVENTS; index += 1) writer.append(said('words '.repeat(40)))
  writer.close()
  truncateSync(ledgerFile(directory), 5 * 4096)
  expectRefused(directory)
})

test('refuses a missing or empty ledger while the views remember it', () => {
  for (const lose of [(file: string) => rmSync(file), (file: string) => truncateSync(file)]) {
    const directory = testDirectory()
    const writer = openTestWriter(directory)
    writer.append(said('tea'))
    writer.close()
    lose(ledgerFile(directory))
    expect(expectRefused(directory).message).toMatch(
      /missing or empty, but ledger\.head recorded event 1 at 2030-01-01T00:00:01\.000Z/,
    )
    rmSync(headFile(directory))
    expect(expectRefused(directory).message).toMatch(/but views\.sqlite recorded event 1 /)
    rmSync(viewsFile(directory))
    openTestWriter(directory).close()
  }
})

test('completes a ledger whose creation a crash interrupted', () => {
  const directory = testDirectory()
  const db = new Database(ledgerFile(directory))
  db.pragma('journal_mode = WAL')
  db.close()
  expect(existsSync(ledgerFile(directory))).toBe(true)
  const writer = openTestWriter(directory)
  writer.append(said('tea'))
  expect(verifyChain(writer.ledger).seq).toBe(1)
  writer.close()
})

test('makes the data directory and its files accessible to their owner only', () => {
  const directory = `${testDirectory()}/data`
  const writer = openTestWriter(directory)
  writer.append(said('tea'))
  const modes = spawnSync('find', [directory, '-perm', '/077'], { encoding: 'utf8' }).stdout
  writer.close()
  expect(modes).toBe('')
})

test('reports a damaged lock as damage, not as another process', () => {
  const directory = testDirectory()
  const file = join(directory, 'lock.sqlite')
  writeFileSync(file, Buffer.alloc(5000, 0x5a))
  expect(() => lockDirectory(directory)).toThrow(LedgerDamaged)
  rmSync(file)
  lockDirectory(directory).release()
})
