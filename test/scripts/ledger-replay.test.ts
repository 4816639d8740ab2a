import { once } from 'node:events'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { viewsFile } from '../../ledger/files.ts'
import { projections } from '../../projections/all.ts'
import { filesIn, testDirectory } from '../support/directory.ts'
import { aFact, eventTypes, exampleOf, withWords } from '../support/facts.ts'
import { openTestStorage } from '../support/storage.ts'
import { openTestWriter, said } from '../support/writer.ts'
import { fillDirectory, runScript, startScript } from './run-script.ts'

const PROCESS_MS = 180_000
const CANARY = 'canarybird'

/** What stands behind each projection's name. */
function verdictsOf(out: string): Record<string, string> {
  return Object.fromEntries(
    [...out.matchAll(/^(\w+) +\d+ +\d+ +[\d-]+ {2}(.+)$/gm)].map(([, name = '', verdict = '']) => [
      name,
      verdict,
    ]),
  )
}

const ALL_EQUAL = Object.fromEntries(projections.map(({ name }) => [name, 'equal']))

test(
  'after any facts and erasures the views are what a replay gives',
  async () => {
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
  },
  PROCESS_MS,
)

test(
  'a replay that has far to go ends as soon as it is told to',
  async () => {
    const directory = testDirectory()
    fillDirectory(directory, 3_000)
    const child = startScript('ledger-replay', directory, [], { LEDGER_DEBUG: '1' })
    const ended = once(child, 'exit')
    // What it traces is read no further, so it cannot be done.
    await once(child.stderr, 'readable')
    child.kill('SIGINT')
    await expect.poll(() => child.signalCode, { timeout: PROCESS_MS }).toBe('SIGINT')
    await ended
    const names = filesIn(directory).map((file) => file.slice(directory.length + 1))
    expect(names.filter((name) => !/^ledger\.head$|^(ledger|views)\.sqlite(-wal|-shm)?$/.test(name))).toEqual(
      [],
    )
  },
  PROCESS_MS,
)

test(
  'with LEDGER_DEBUG=1 each event is a line without its words',
  async () => {
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
  },
  PROCESS_MS,
)

test.each([
  ['timeline', 'UPDATE timeline_runs SET spanStart = 4', 'timeline_runs, row with firstSeq 1: '],
  [
    'search',
    `UPDATE search_documents SET text = '${CANARY}' WHERE seq = 4`,
    'search_documents, row with seq 4: differs in text',
  ],
  ['search', "INSERT INTO search_index(search_index) VALUES ('delete-all')", 'search_index, row with '],
  [
    'owner',
    `INSERT INTO owner VALUES (99, '${CANARY}', 'UTC')`,
    'owner, row with installedSeq 99: is in the live views alone',
  ],
])(
  'where rows of %s are not what the ledger says, they are named and not shown',
  async (name, sql, flaw) => {
    const directory = testDirectory()
    fillDirectory(directory, 10)
    const db = new Database(viewsFile(directory))
    db.exec(sql)
    db.close()
    const { code, out, err } = await runScript('ledger-replay', directory)
    expect(verdictsOf(out)).toEqual({ ...ALL_EQUAL, [name]: expect.stringContaining(flaw) })
    expect([code, err]).toEqual([1, `1 of ${projections.length} views are not what the ledger says.\n`])
    expect(out + err).not.toContain(CANARY)
  },
  PROCESS_MS,
)

test(
  'beside a service that appends and erases, the views are compared at one moment',
  async () => {
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
  },
  PROCESS_MS,
)

test(
  'views that stand before an erasure, or come from another build, are said not to be comparable',
  async () => {
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
      search: expect.stringContaining('stands at event 10, and something was erased since'),
      notes: expect.stringContaining('another version of Delegate made it'),
    })
  },
  PROCESS_MS,
)
