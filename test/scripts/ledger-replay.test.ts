import { once } from 'node:events'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { viewsFile } from '../../ledger/files.ts'
import { projections } from '../../projections/all.ts'
import { removeViews } from '../../projections/views.ts'
import { digests, filesIn, testDirectory } from '../support/directory.ts'
import { aFact, eventTypes, exampleOf, withWords } from '../support/facts.ts'
import { openTestStorage } from '../support/storage.ts'
import { openTestWriter, said } from '../support/writer.ts'
import { fillDirectory, runScript, startScript } from './run-script.ts'

const CANARY = 'canarybird'

/** The verdict for each projection. */
function verdictsOf(out: string): Record<string, string> {
  return Object.fromEntries(
    [...out.matchAll(/^(\w+) +\d+ +\d+ +[\d-]+ {2}(.+)$/gm)].map(([, name = '', verdict = '']) => [
      name,
      verdict,
    ]),
  )
}

const ALL_EQUAL = Object.fromEntries(projections.map(({ name }) => [name, 'equal']))

test('matches the views after any facts and erasures', { tags: ['long'] }, async () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  for (const type of eventTypes) writer.append(exampleOf(type))
  for (const fact of fc.sample(aFact, { seed: 7, numRuns: 400 })) writer.append(fact)
  writer.forget(1, 9, 30, 77)
  writer.settle()
  const { seq } = writer.ledger.head()
  writer.close()
  const { code, out, err } = await runScript('ledger-replay', directory)
  expect([code, err]).toEqual([0, ''])
  expect(verdictsOf(out)).toEqual(ALL_EQUAL)
  expect(out).toMatch(new RegExp(`^timeline +${seq} +\\d+ +\\d+ {2}equal$`, 'm'))
  expect(out).toMatch(new RegExp(`^all +${seq} +\\d+ {2}in \\d+ ms$`, 'm'))
  const names = filesIn(directory).map((file) => file.slice(directory.length + 1))
  expect(names.filter((name) => !/^ledger\.head$|^(ledger|views)\.sqlite(-wal|-shm)?$/.test(name))).toEqual(
    [],
  )
})

test('folds a ledger without views, and says that it compared nothing', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 10)
  removeViews(directory)
  const before = digests(directory)
  const { code, out, err } = await runScript('ledger-replay', directory)
  expect([code, err]).toEqual([0, ''])
  expect(verdictsOf(out)).toEqual(Object.fromEntries(projections.map(({ name }) => [name, 'folded'])))
  expect(out).toMatch(/^search +12 +[1-9]\d* +\d+ {2}folded$/m)
  expect(out).toMatch(/^all +12 +\d+ {2}in \d+ ms$/m)
  expect(out).toContain(`There are no views in ${directory} yet, so there was nothing to compare with.\n`)
  expect(digests(directory)).toMatchObject(before)
})

test('stops a long replay as soon as it is told to', async () => {
  const directory = testDirectory()
  fillDirectory(directory, 3_000)
  const child = startScript('ledger-replay', directory, [], { LEDGER_DEBUG: '1' })
  const ended = once(child, 'exit')
  // Its trace is not read any further, so it cannot finish.
  await once(child.stderr, 'readable')
  child.kill('SIGINT')
  await expect.poll(() => child.signalCode).toBe('SIGINT')
  await ended
  const names = filesIn(directory).map((file) => file.slice(directory.length + 1))
  expect(names.filter((name) => !/^ledger\.head$|^(ledger|views)\.sqlite(-wal|-shm)?$/.test(name))).toEqual(
    [],
  )
})

test('logs each event without its words with LEDGER_DEBUG=1', async () => {
  const directory = testDirectory()
  const writer = openTestWriter(directory)
  const types = [...eventTypes]
  for (const type of types) writer.append(withWords(exampleOf(type), CANARY))
  writer.settle()
  const { seq } = writer.ledger.head()
  writer.close()
  const { code, out, err } = await runScript('ledger-replay', directory, [], {
    environment: { LEDGER_DEBUG: '1' },
  })
  expect([code, out + err]).toEqual([0, expect.not.stringContaining(CANARY)])
  const lines = err.trim().split('\n')
  expect(lines).toHaveLength(seq)
  for (const [index, line] of lines.entries())
    expect(line).toMatch(
      new RegExp(
        `^seq=${index + 1} type=${types[index] ?? '[a-z.-]+'} bytes=\\d+( [a-z_]+=\\d+µs){${projections.length}}$`,
      ),
    )
})

test.each([
  ['timeline', 'UPDATE timeline_runs SET spanStart = 4', 'timeline_runs, row with firstSeq 1: '],
  [
    'search',
    `UPDATE search_index SET text = '${CANARY}' WHERE rowid = 4`,
    'search_index, row with rowid 4: differs in text',
  ],
  ['search', 'DELETE FROM search_index WHERE rowid = 4', 'search_index, row with rowid 4: '],
  [
    'owner',
    `INSERT INTO owner VALUES (99, '${CANARY}', 'UTC')`,
    'owner, row with installedSeq 99: only in the live views',
  ],
])('names rows of %s that do not match the ledger without showing them', async (name, sql, flaw) => {
  const directory = testDirectory()
  fillDirectory(directory, 10)
  const db = new Database(viewsFile(directory))
  db.exec(sql)
  db.close()
  const { code, out, err } = await runScript('ledger-replay', directory)
  expect(verdictsOf(out)).toEqual({ ...ALL_EQUAL, [name]: expect.stringContaining(flaw) })
  expect([code, err]).toEqual([
    1,
    `1 of ${projections.length} views differ from the ledger or could not be compared.\n`,
  ])
  expect(out + err).not.toContain(CANARY)
})

test('compares the views at one moment while a service appends and erases', async () => {
  const directory = testDirectory()
  const storage = await openTestStorage(directory)
  for (let index = 0; index < 300; index += 1)
    await storage.append([said(`one ${index}`, { spanId: `s${index % 5}` })])
  let isOver = false
  const replayed = runScript('ledger-replay', directory).finally(() => {
    isOver = true
  })
  for (let round = 1; !isOver; round += 1) {
    await storage.append([said(`meanwhile ${round}`)])
    if (round % 50 === 0) await storage.erase([round], 'owner')
  }
  const { code, out, err } = await replayed
  expect([code, err]).toEqual([0, ''])
  expect(verdictsOf(out)).toEqual(ALL_EQUAL)
})

test('does not compare views from before an erasure or from another build', { tags: ['long'] }, async () => {
  const directory = testDirectory()
  fillDirectory(directory, 10)
  const db = new Database(viewsFile(directory))
  db.exec('INSERT INTO views_checkpoints SELECT 99, 10, hash FROM views_checkpoints LIMIT 1')
  db.exec("UPDATE views_folds SET checkpoint = 99 WHERE name = 'search'")
  db.exec("UPDATE views_folds SET version = 0 WHERE name = 'notes'")
  db.close()
  const { code, out } = await runScript('ledger-replay', directory)
  expect(code).toBe(1)
  expect(verdictsOf(out)).toEqual({
    ...ALL_EQUAL,
    search: expect.stringContaining('stands at event 10, before the last erasure'),
    notes: expect.stringContaining('built by another version of Delegate'),
  })
})
