import { copyFileSync, cpSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ledgerFile, viewsFile } from '../../ledger/files.ts'
import { headFile } from '../../ledger/witness.ts'
import { digests, testDirectory } from '../support/directory.ts'
import { openTestWriter, said } from '../support/writer.ts'

/** A directory as kill -9 leaves it after `events` appends, the last `inLog` of them in the log only. */
function killed(events: number, inLog = events): string {
  const live = testDirectory()
  const directory = testDirectory()
  const writer = openTestWriter(live)
  for (let index = 1; index <= events; index += 1) {
    if (index === events - inLog + 1) writer.ledger.truncateLog()
    writer.append(said(`message ${index}`))
  }
  cpSync(live, directory, { recursive: true })
  writer.close()
  return directory
}

function remove(file: string, ...suffixes: string[]): void {
  for (const suffix of suffixes) rmSync(`${file}${suffix}`)
}

function refusalOf(directory: string): string {
  const before = digests(directory)
  let message = 'it started'
  try {
    openTestWriter(directory).close()
  } catch (error) {
    message = String(error)
  }
  expect(digests(directory)).toEqual(before)
  return message
}

const INDEX_AND_LOG = ['-shm', '-wal']

test.each<[string, (directory: string) => void, string]>([
  ['with the index of the views', (directory) => remove(viewsFile(directory), '-shm'), 'ledger.head'],
  ['with the views', (directory) => remove(viewsFile(directory), '', ...INDEX_AND_LOG), 'ledger.head'],
  ['with the log of the views', (directory) => remove(viewsFile(directory), ...INDEX_AND_LOG), 'ledger.head'],
  ['with the note of the head', (directory) => rmSync(headFile(directory)), 'views.sqlite'],
  [
    'with a note that nobody can read',
    (directory) => writeFileSync(headFile(directory), '{'),
    'views.sqlite',
  ],
])('refuses a ledger that lost its log %s, with the number of missing events', (_, alsoLose, witness) => {
  const directory = killed(20, 15)
  remove(ledgerFile(directory), ...INDEX_AND_LOG)
  alsoLose(directory)
  const refusal = refusalOf(directory)
  expect(refusal).toContain('15 events are missing (seq 6 to 20)')
  expect(refusal).toMatch(new RegExp(`${witness.replace('.', '\\.')} recorded event 20 at 20\\d\\d-\\d\\d-`))
  expect(refusal).toContain('npm run ledger:accept-loss')
})

test('starts again once the log is back', () => {
  const directory = killed(20)
  renameSync(`${ledgerFile(directory)}-wal`, `${directory}/aside`)
  expect(refusalOf(directory)).toContain('20 events are missing')
  renameSync(`${directory}/aside`, `${ledgerFile(directory)}-wal`)
  const writer = openTestWriter(directory)
  expect(writer.ledger.head().seq).toBe(20)
  writer.close()
})

test('rebuilds a missing index of the log without loss', () => {
  const directory = killed(20)
  remove(ledgerFile(directory), '-shm')
  const writer = openTestWriter(directory)
  expect(writer.ledger.head().seq).toBe(20)
  writer.close()
})

test('refuses an older ledger, even with events appended elsewhere', () => {
  const directory = testDirectory()
  const elsewhere = testDirectory()
  const writer = openTestWriter(directory)
  writer.append(said('1'))
  writer.close()
  copyFileSync(ledgerFile(directory), ledgerFile(elsewhere))
  const continued = openTestWriter(directory)
  continued.append(said('2'))
  continued.close()
  const other = openTestWriter(elsewhere)
  other.append(said('another 2'), said('another 3'))
  other.close()

  const current = `${directory}/current`
  copyFileSync(ledgerFile(directory), current)
  copyFileSync(ledgerFile(elsewhere), ledgerFile(directory))
  for (const witness of ['ledger.head', 'views.sqlite']) {
    expect(refusalOf(directory)).toMatch(
      new RegExp(`older one than the service had here: ${witness} recorded event 2 `),
    )
    rmSync(headFile(directory), { force: true })
  }
  copyFileSync(current, ledgerFile(directory))
  openTestWriter(directory).close()
})

test('refuses the ledger of another service', () => {
  const directory = killed(3)
  const other = testDirectory()
  const writer = openTestWriter(other)
  for (let index = 0; index < 5; index += 1) writer.append(said('somebody else'))
  writer.close()
  remove(ledgerFile(directory), ...INDEX_AND_LOG)
  copyFileSync(ledgerFile(other), ledgerFile(directory))
  expect(refusalOf(directory)).toContain('the ledger is a different or an older one')
})

test('writes the missing head file in a directory of an older build', () => {
  const directory = killed(3)
  rmSync(headFile(directory))
  openTestWriter(directory).close()
  for (const suffix of ['', ...INDEX_AND_LOG]) rmSync(`${viewsFile(directory)}${suffix}`, { force: true })
  const old = killed(2)
  for (const suffix of INDEX_AND_LOG) rmSync(`${ledgerFile(directory)}${suffix}`, { force: true })
  copyFileSync(ledgerFile(old), ledgerFile(directory))
  expect(refusalOf(directory)).toContain('ledger.head recorded event 3')
})

test.each(['-wal', '-shm'])(
  'detects a lost %s of an open ledger, stops appending and saves all events',
  (suffix) => {
    const directory = testDirectory()
    const crashed = testDirectory()
    const writer = openTestWriter(directory)
    for (let index = 0; index < 20; index += 1) writer.append(said(`message ${index}`))
    rmSync(`${ledgerFile(directory)}${suffix}`)
    // An append checks the log only; `saveLostLog` also checks the index.
    if (suffix === '-shm') writer.ledger.saveLostLog()
    expect(() => writer.append(said('refused'))).toThrow(
      /-wal or ledger\.sqlite-shm was moved, deleted or replaced/,
    )
    expect(() => writer.append(said('refused too'))).toThrow(/restart the service/)
    expect(writer.ledger.saveLostLog()).toMatchObject({ isSaved: true })
    cpSync(directory, crashed, { recursive: true })
    writer.close()
    const next = openTestWriter(crashed)
    expect(next.ledger.head().seq).toBe(20)
    next.close()
  },
)

test('never accepts a log that was replaced while the ledger was open', () => {
  const directory = testDirectory()
  const crashed = testDirectory()
  const writer = openTestWriter(directory)
  const log = `${ledgerFile(directory)}-wal`
  writer.append(said('early'))
  copyFileSync(log, `${directory}/older`)
  for (let index = 0; index < 20; index += 1) writer.append(said(`message ${index}`))
  renameSync(`${directory}/older`, log)
  expect(writer.ledger.saveLostLog()).toMatchObject({ isSaved: true })
  cpSync(directory, crashed, { recursive: true })
  writer.close()
  const next = openTestWriter(crashed)
  expect(next.ledger.head().seq).toBe(21)
  next.close()
})

test('each commit waits for this disk, unless another database commits first', () => {
  const directory = testDirectory()
  const waits = ({ ledger }: ReturnType<typeof openTestWriter>) =>
    ledger.db.pragma('synchronous', { simple: true }) === 2
  const writer = openTestWriter(directory)
  expect(waits(writer)).toBe(true)
  writer.ledger.setEngine('commit')
  expect(waits(writer)).toBe(false)
  writer.close()
  const again = openTestWriter(directory)
  expect(waits(again)).toBe(false)
  again.ledger.setEngine('sqlite')
  expect(waits(again)).toBe(true)
  again.close()
})

test('a copy may be opened without its end, and proves the loss until it has it again', () => {
  const live = testDirectory()
  const directory = testDirectory()
  const writer = openTestWriter(live)
  writer.ledger.setEngine('commit')
  writer.ledger.truncateLog()
  for (let index = 1; index <= 20; index += 1) writer.append(said(`message ${index}`))
  const rows = [...writer.ledger.rowsAfter(0, 20)]
  cpSync(live, directory, { recursive: true })
  writer.close()
  remove(ledgerFile(directory), ...INDEX_AND_LOG)

  expect(refusalOf(directory)).toContain('20 events are missing (seq 1 to 20)')
  const open = () => openTestWriter(directory, { mayLackEnd: true })
  const first = open()
  first.apply(rows.slice(0, 12))
  expect(() => first.ledger.requireEnd()).toThrow('20 events are missing')
  first.close()
  expect(refusalOf(directory)).toContain('8 events are missing (seq 13 to 20)')
  const second = open()
  second.apply(rows.slice(12))
  second.ledger.requireEnd()
  second.append(said('one more'))
  expect(second.viewsSeq()).toBe(21)
  second.close()
  openTestWriter(directory).close()
})
