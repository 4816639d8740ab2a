// @module-tag long

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openViewsReadOnly } from '../../../projections/views.ts'
import { extractingModel } from '../../bench/memory/model.ts'
import { live, openLife } from '../../bench/memory/play.ts'
import { readMonth } from '../../bench/memory/read-month.ts'
import { runScript } from '../../scripts/run-script.ts'
import { testDirectory } from '../../support/directory.ts'
import { createRandom } from '../../support/random.ts'
import { startFlags } from '../../support/start-flags.ts'
import { openTestStorage } from '../../support/storage.ts'

const PERSONA = 'tamsin'
const TABLES = ['memories', 'memory_uses', 'memory_sources', 'memory_contests', 'memory_barred_sources']

type Row = Readonly<Record<string, unknown>>

/** Every row of the memory's tables. */
function storeIn(directory: string): Readonly<Record<string, readonly Row[]>> {
  const views = openViewsReadOnly(directory)
  try {
    return Object.fromEntries(
      TABLES.map((table) => [table, views.prepare<[], Row>(`SELECT * FROM ${table} ORDER BY 1, 2`).all()]),
    )
  } finally {
    views.close()
  }
}

/** What the memories say and how they stand to each other, without ids and times, which no two lives share. */
function meaningIn(directory: string): readonly Row[] {
  const { memories = [], memory_sources: sources = [], memory_contests: contests = [] } = storeIn(directory)
  const place = new Map(memories.map(({ memoryId }, index) => [memoryId, index]))
  const ofMemory = (rows: readonly Row[], id: unknown) => rows.filter(({ memoryId }) => memoryId === id)
  return memories.map(({ memoryId, supersedes, supersededBy, linkedTo, ...row }) => ({
    ...Object.fromEntries(
      [
        'kind',
        'status',
        'singleValued',
        'text',
        'subject',
        'slot',
        'value',
        'quote',
        'canonicalKey',
        'slotKey',
      ]
        .concat('statementKey', 'statedUntil', 'reinforcements')
        .map((name) => [name, row[name]]),
    ),
    supersedes: place.get(supersedes),
    supersededBy: place.get(supersededBy),
    linkedTo: place.get(linkedTo),
    sources: ofMemory(sources, memoryId).length,
    contested: ofMemory(contests, memoryId).map(({ withId }) => place.get(withId)),
  }))
}

async function liveMonth(directory: string): Promise<void> {
  const month = readMonth(PERSONA)
  const mind = await openLife({ directory, utility: extractingModel(month, 'competent') })
  await live(mind, month)
  await mind.close()
}

/** Lives on, kills a moment after some messages, and returns whether the month ended before. */
async function liveUntilKilled(directory: string, messages: number, momentMs: number): Promise<boolean> {
  const script = join(import.meta.dirname, 'live-month.ts')
  const child = spawn(process.execPath, [...startFlags(), script, PERSONA, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  let said = 0
  child.stdout.on('data', (dots: Buffer) => {
    said += dots.length
    if (said >= messages) setTimeout(() => child.kill('SIGKILL'), momentMs)
  })
  const [code, signal] = await ended
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`the month ended with ${code ?? signal}`)
  return code === 0
}

/** Opens the storage, which builds what views are missing. */
async function buildViews(directory: string): Promise<void> {
  const storage = await openTestStorage(directory)
  await storage.catchUpLagging()
  await storage.close()
}

test('the memory of a month is the same if kill -9 cuts the month off again and again', async () => {
  const [whole, killed] = [testDirectory(), testDirectory()]
  await liveMonth(whole)
  const random = createRandom(25)
  let kills = 0
  while (!(await liveUntilKilled(killed, 10 + random.below(40), random.below(30)))) kills += 1
  expect(kills).toBeGreaterThanOrEqual(5)
  expect(meaningIn(killed)).toEqual(meaningIn(whole))
})

test('the memory of a month is the same after a rebuild, an export and an import', async () => {
  const directory = testDirectory()
  await liveMonth(directory)
  const before = storeIn(directory)
  expect(before.memories?.length).toBeGreaterThan(70)

  for (const suffix of ['', '-wal', '-shm']) rmSync(join(directory, `views.sqlite${suffix}`), { force: true })
  await buildViews(directory)
  expect(storeIn(directory)).toEqual(before)

  const file = join(testDirectory(), 'ledger.jsonl')
  const imported = testDirectory()
  expect(await runScript('ledger-export', directory, [file])).toMatchObject({ code: 0 })
  expect(await runScript('ledger-import', imported, [file])).toMatchObject({ code: 0 })
  await buildViews(imported)
  expect(storeIn(imported)).toEqual(before)
})
