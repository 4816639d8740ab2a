import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { benchAppend } from './append.ts'
import { benchBridge } from './bridge.ts'
import { benchLoadedBridge } from './bridge-loaded.ts'
import { benchMemories } from './memories.ts'
import { benchReport } from './report.ts'
import { round } from './statistics.ts'
import { benchTurns } from './turn.ts'
import { benchColdStart, benchFolds, benchPages, prepareLedger } from './views.ts'

/** `npm run bench`: medians of one run, ratios within it. `--quick` leaves out the million; `--json` ends with JSON. */
const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
})
const SIZES = values.quick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000]

const root = mkdtempSync(join(tmpdir(), 'delegate-bench-'))
const results: Record<string, unknown> = {}

function report(name: string, figures: unknown): void {
  results[name] = figures
  process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`)
}

try {
  const appends = join(root, 'append')
  mkdirSync(appends)
  report('append', await benchAppend(appends))
  const pages: ReturnType<typeof benchPages>[] = []
  const reports: ReturnType<typeof benchReport>[] = []
  for (const size of SIZES) {
    const directory = join(root, `ledger-${size}`)
    prepareLedger(directory, size)
    const figures = benchPages(directory)
    pages.push(figures)
    report(`pages ${size}`, figures)
    const ofReport = benchReport(directory)
    reports.push(ofReport)
    report(`operations report ${size}`, ofReport)
    if (size === 100_000) report('folds', benchFolds(directory))
  }
  const [smallest, largest] = [pages[0], pages.at(-1)]
  if (smallest && largest) {
    report('pages largest/smallest', {
      newest: round(largest.newestMs / smallest.newestMs),
      deep: round(largest.deepMs / smallest.deepMs),
      chained: round(largest.chainedMs / smallest.chainedMs),
    })
  }
  const [shortest, longest] = [reports[0], reports.at(-1)]
  if (shortest && longest) {
    report('operations report largest/smallest', round(longest.medianMs / shortest.medianMs))
  }
  report(`cold start ${SIZES.at(-1)}`, await benchColdStart(join(root, `ledger-${SIZES.at(-1)}`)))
  const turns = await benchTurns(
    values.quick ? { turns: 200, longTurns: 400 } : { turns: 1000, longTurns: 10_000 },
  )
  for (const [name, figures] of Object.entries(turns)) report(`turn ${name}`, figures)
  report('bridge alone', await benchBridge({ seconds: values.quick ? 20 : 60 }))
  report(
    `bridge beside chat, over ${SIZES.at(-1)} events and a slow disk`,
    await benchLoadedBridge({
      directory: join(root, `ledger-${SIZES.at(-1)}`),
      seconds: values.quick ? 20 : 60,
    }),
  )
  report(
    'turn and memories',
    await benchMemories({ few: 100, many: 50_000, turns: values.quick ? 200 : 1000 }),
  )
} finally {
  rmSync(root, { recursive: true, force: true })
}
if (values.json) process.stdout.write(`${JSON.stringify(results)}\n`)
