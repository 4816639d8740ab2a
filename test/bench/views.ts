import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { projections } from '../../projections/all.ts'
import type { Projection } from '../../projections/projection.ts'
import { createProjector } from '../../projections/projector.ts'
import { createTimelineQueries, type PageCursor } from '../../projections/timeline-page.ts'
import { openViewsForWriting, openViewsReadOnly } from '../../projections/views.ts'
import { startEnvironment } from '../support/start-flags.ts'
import { generateLedger } from './generate.ts'
import { median, processorTime, round, timed } from './statistics.ts'

const PAGE_EVENTS = 500
const PAGES_MEASURED = 300

/** The share of a ledger, from its beginning, whose spans overlap like the links of a chain. */
const CHAINED_SHARE = 0.2

/** Generates a ledger and builds all its views, as a start does. */
export function prepareLedger(directory: string, events: number): void {
  generateLedger(directory, events, events * CHAINED_SHARE)
  const ledgerDb = openLedgerReadOnly(directory)
  const views = openViewsForWriting(directory)
  const projector = createProjector({
    db: views,
    ledger: createReader(ledgerDb),
    projections,
    warn: () => undefined,
  })
  projector.catchUp()
  while (projector.catchUpLagging(10_000));
  views.close()
  ledgerDb.close()
  // Pending writes would otherwise disturb the measurement.
  spawnSync('sync')
}

export type PreparedLedger = { readonly size: number; readonly directory: string }

/** Spreads the places evenly by the golden ratio, the same in each run. */
const placeBetween = (from: number, to: number, index: number): number =>
  from + 2 * PAGE_EVENTS + Math.floor((to - from - 2 * PAGE_EVENTS) * ((index * 0.618_033_988_75) % 1))

/** Where a page begins, by the ledger's head: at the newest event, among separate or overlapping spans. */
const placesOfPages: Readonly<Record<string, (head: number, index: number) => number | null>> = {
  newest: () => null,
  deep: (head, index) => placeBetween(head * CHAINED_SHARE, head, index),
  chained: (head, index) => placeBetween(0, head * CHAINED_SHARE, index),
}

/**
 * Median milliseconds for a page of 500 events as JSON, alternating between the ledgers. The ratio compares
 * the last ledger with the first.
 */
export function benchPages(ledgers: readonly PreparedLedger[]) {
  const opened = ledgers.map(({ size, directory }) => {
    const ledgerDb = openLedgerReadOnly(directory)
    const views = openViewsReadOnly(directory)
    const ledger = createReader(ledgerDb)
    const head = ledger.head().seq
    const timeline = createTimelineQueries(views, ledger)
    const read = (beforeSeq: number | null) => {
      const cursor: PageCursor | null = beforeSeq === null ? null : { beforeSeq, asOfSeq: head }
      return JSON.stringify(timeline.page({ limit: PAGE_EVENTS, cursor, conversationId: null }))
    }
    const close = () => {
      views.close()
      ledgerDb.close()
    }
    return { size, head, read, close }
  })
  const measure = (placeOf: (head: number, index: number) => number | null) => {
    const samples = opened.map((): number[] => [])
    for (let index = 0; index < PAGES_MEASURED; index += 1)
      for (const [of, { head, read }] of opened.entries())
        samples[of]?.push(timed(() => read(placeOf(head, index))))
    const medians = samples.map(median)
    return {
      ...Object.fromEntries(opened.map(({ size }, of) => [size, round(medians[of] ?? Number.NaN)])),
      ratio: round((medians.at(-1) ?? Number.NaN) / (medians[0] ?? Number.NaN)),
    }
  }
  const figures = Object.fromEntries(
    Object.entries(placesOfPages).map(([name, placeOf]) => [`${name}Ms`, measure(placeOf)]),
  )
  for (const { close } of opened) close()
  return figures
}

/** Events per second of processor time into empty views: the timeline only, all views of an append, and all views. */
export function benchFolds(directory: string) {
  const ledgerDb = openLedgerReadOnly(directory)
  const ledger = createReader(ledgerDb)
  const events = ledger.head().seq
  let made = 0
  const rate = (folded: readonly Projection[]) => {
    const runs = Array.from({ length: 3 }, () => {
      made += 1
      const views = new Database(join(directory, `fold-${made}.sqlite`))
      views.pragma('journal_mode = WAL')
      views.pragma('synchronous = NORMAL')
      const projector = createProjector({ db: views, ledger, projections: folded, warn: () => undefined })
      const elapsedMs = processorTime(() => {
        projector.catchUp()
        while (projector.catchUpLagging(10_000));
      })
      views.close()
      return elapsedMs
    })
    return Math.round((events / median(runs)) * 1000)
  }
  const figures = {
    timelineEventsPerSecond: rate(projections.filter(({ name }) => name === 'timeline')),
    promptEventsPerSecond: rate(projections.filter(({ lagging }) => !lagging)),
    allEventsPerSecond: rate(projections),
  }
  ledgerDb.close()
  return figures
}

/** Median milliseconds, of five runs, from the start of the process to its first answer. */
export async function benchColdStart(directory: string) {
  const starts: number[] = []
  for (let run = 0; run < 6; run += 1) {
    const elapsedMs = await startOnce(directory)
    // The first start fills the compile cache and does not count.
    if (run > 0) starts.push(elapsedMs)
  }
  return { listeningMs: round(median(starts)) }
}

function startOnce(directory: string): Promise<number> {
  const startedMs = performance.now()
  const env = { ...process.env, ...startEnvironment(), DATA_DIR: directory, PORT: '0', LOG_LEVEL: 'info' }
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../src/main.ts')], { env })
  return new Promise((resolve, reject) => {
    let elapsedMs = Number.NaN
    child.stdout.on('data', (data: Buffer) => {
      if (!Number.isNaN(elapsedMs) || !data.includes('"listening"')) return
      elapsedMs = performance.now() - startedMs
      // An orderly exit keeps the compile cache; the signal handler is installed shortly after this line.
      setTimeout(() => child.kill('SIGTERM'), 200)
    })
    child.on('error', reject)
    child.on('exit', () => resolve(elapsedMs))
  })
}
