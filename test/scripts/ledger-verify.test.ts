import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { ledgerFile, openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { digests, testDirectory } from '../support/directory.ts'
import { openTestStorage } from '../support/storage.ts'
import { openTestWriter, said } from '../support/writer.ts'
import { fillDirectory, flipByte, headOf, runScript, tamper } from './run-script.ts'

const PAGE_BYTES = 4096

test('reports a sound ledger and its head while a service appends', async () => {
  const directory = testDirectory()
  const storage = await openTestStorage(directory)
  for (let index = 0; index < 50; index += 1) await storage.append([said(`one ${index}`)])
  await storage.erase([7], 'owner')
  const { seq, hash } = storage.ledger.head()
  const running = runScript('ledger-verify', directory, ['--expect', `${seq}:${hash}`])
  let isOver = false
  const verified = running.finally(() => {
    isOver = true
  })
  while (!isOver) await storage.append([said('meanwhile')])
  const { code, out, err } = await verified
  expect([code, err]).toEqual([0, ''])
  const [, printedSeq, printedHash] = /^head {3}(\d+) ([0-9a-f]{64})$/m.exec(out) ?? []
  expect(Number(printedSeq)).toBeGreaterThanOrEqual(seq)
  expect(storage.ledger.hashAt(Number(printedSeq))).toBe(printedHash)
})

test('verifies a stopped directory without changing it', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 10)
  const before = digests(directory)
  const { code, out } = await runScript('ledger-verify', directory)
  expect([code, out.split('\n')[0]]).toEqual([0, 'The ledger is sound: 12 events.'])
  expect(headOf(out)).toBeDefined()
  expect(digests(directory)).toMatchObject(before)
})

test.each([
  ['facts were changed', `UPDATE events SET facts = '{"text":"x"}' WHERE seq = 7`, 7],
  ['body was changed', `UPDATE events SET body = '{"text":"never said"}' WHERE seq = 7`, 7],
  ['actor was changed', `UPDATE events SET actor = 'delegate' WHERE seq = 2`, 2],
  ['event was taken out', 'DELETE FROM events WHERE seq = 6', 6],
  ['body was taken away without an erasure', 'UPDATE events SET body = NULL, salt = NULL WHERE seq = 8', 8],
  ['body came back after its erasure', `UPDATE events SET body = '{}', salt = 'a' WHERE seq = 3`, 3],
  ['last event was cut off', 'DELETE FROM events WHERE seq > 11', 12],
])('names the first damaged event where the %s', async (_what, sql, seq) => {
  const directory = testDirectory()
  fillDirectory(directory, 10)
  tamper(directory, sql)
  const { code, out, err } = await runScript('ledger-verify', directory)
  expect([code, out]).toEqual([1, ''])
  expect(err).toMatch(new RegExp(`^DAMAGED at event ${seq}: `))
  expect(err).not.toContain('needle')
})

test('names the first event on an overwritten page of the file', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 200)
  const file = ledgerFile(directory)
  const bytes = readFileSync(file)
  const page = Math.floor(bytes.indexOf('needle 120 ') / PAGE_BYTES)
  const last = [
    ...bytes.toString('latin1', page * PAGE_BYTES, (page + 1) * PAGE_BYTES).matchAll(/needle (\d+) /g),
  ]
  const first = Math.min(...last.map(([, number]) => Number(number)))
  bytes.fill(0xff, page * PAGE_BYTES, (page + 1) * PAGE_BYTES)
  writeFileSync(file, bytes)
  const { code, err } = await runScript('ledger-verify', directory)
  expect([code, err]).toEqual([1, expect.stringContaining(`DAMAGED at event ${first}: `)])
})

test('reports a dropped guard as damage', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 3)
  const db = new Database(ledgerFile(directory))
  db.exec('DROP TRIGGER events_delete_guard')
  db.close()
  const { code, err } = await runScript('ledger-verify', directory)
  expect([code, err]).toEqual([1, expect.stringContaining('events_delete_guard')])
})

test.each([
  ['changed', 'update', `UPDATE events SET body = '{"text":"never said"}' WHERE seq = 7`, 7],
  ['taken out', 'delete', 'DELETE FROM events WHERE seq = 6', 6],
  ['cut off', 'delete', 'DELETE FROM events WHERE seq > 11', 12],
])('names an event that was %s after the %s guard was dropped', async (_what, guard, sql, seq) => {
  const directory = testDirectory()
  fillDirectory(directory, 10)
  const db = new Database(ledgerFile(directory))
  db.exec(`DROP TRIGGER events_${guard}_guard; ${sql}`)
  db.close()
  const { code, out, err } = await runScript('ledger-verify', directory)
  expect([code, out, err]).toEqual([1, '', expect.stringMatching(new RegExp(`^DAMAGED at event ${seq}: `))])
})

test('names a table that is missing', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 3)
  tamper(directory, 'DROP TABLE meta')
  const { code, err } = await runScript('ledger-verify', directory)
  expect([code, err]).toEqual([1, expect.stringMatching(/^DAMAGED: .* meta differs from its schema\n$/)])
})

test('detects another sound chain by a head noted elsewhere', async () => {
  const [directory, other] = [testDirectory(), testDirectory()]
  fillDirectory(directory, 10)
  fillDirectory(other, 10)
  const db = openLedgerReadOnly(directory)
  const noted = createReader(db).hashAt(4)
  db.close()
  expect((await runScript('ledger-verify', directory, ['--expect', `4:${noted}`])).code).toBe(0)
  const { code, err } = await runScript('ledger-verify', other, ['--expect', `4:${noted}`])
  expect([code, err]).toEqual([1, expect.stringContaining('DAMAGED at event 4: ')])
  expect((await runScript('ledger-verify', directory, ['--expect', 'a head'])).code).toBe(2)
})

test('refuses a directory without a ledger and creates nothing in it', async () => {
  const directory = testDirectory()
  const { code, err } = await runScript('ledger-verify', directory)
  expect([code, err]).toEqual([1, `There is no ledger in ${directory}. Set DATA_DIR to its directory.\n`])
  expect(digests(directory)).toEqual({})
})

test.each(['ledger-verify', 'ledger-replay', 'ledger-export', 'ledger-import', 'backup', 'restore'])(
  '%s prints its usage and refuses unknown arguments',
  async (name) => {
    const directory = testDirectory()
    const npmName = name.replace('-', ':')
    const helped = await runScript(name, directory, ['--help'])
    expect([helped.code, helped.err]).toEqual([0, ''])
    expect(helped.out).toMatch(new RegExp(`^npm run (--silent )?${npmName}`))
    const { code, err } = await runScript(name, directory, ['one', 'two', '--no-such-thing'])
    expect([code, err]).toEqual([2, expect.stringContaining(helped.out)])
    expect(digests(directory)).toEqual({})
  },
)

test('checks every byte of the index of client retries, also in a backup', async () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  for (let index = 0; index < 10; index += 1)
    writer.append(said(`message ${index}`, { key: `chat:client-${index}` }))
  writer.close()
  // The key is in its row and in the index; the index page is the one without the text.
  const file = ledgerFile(directory)
  const bytes = readFileSync(file)
  const key = Buffer.from('chat:client-7')
  for (let at = bytes.indexOf(key); at !== -1; at = bytes.indexOf(key, at + 1)) {
    const page = Math.floor(at / PAGE_BYTES) * PAGE_BYTES
    if (!bytes.subarray(page, page + PAGE_BYTES).includes('chat.message.received')) flipByte(file, at + 5)
  }
  const verified = await runScript('ledger-verify', directory)
  expect([verified.code, verified.out]).toEqual([1, ''])
  expect(verified.err).toMatch(/^DAMAGED: .*events_key/)
  const target = join(testDirectory(), 'backup')
  const made = await runScript('backup', directory, [target])
  expect([made.code, made.out, made.err]).toEqual([1, '', expect.stringMatching(/^DAMAGED: .*events_key/)])
  expect(existsSync(target)).toBe(false)
  expect(() => openTestWriter(directory)).toThrow(/events_key/)
})
