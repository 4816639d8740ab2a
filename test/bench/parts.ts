import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { benchAppend } from './append.ts'
import { benchBridge } from './bridge.ts'
import { benchLoadedBridge } from './bridge-loaded.ts'
import { benchEngine } from './engine.ts'
import { benchErasing } from './erasing.ts'
import { benchLookups } from './lookups.ts'
import { benchMemories } from './memories.ts'
import { benchReports } from './report.ts'
import { benchSpokenCall } from './spoken-call.ts'
import { benchTurns } from './turn.ts'
import { benchColdStart, benchFolds, benchPages, prepareLedger } from './views.ts'

/** What a part receives, and how it reports figures. */
export type Bench = {
  /** The directory of this run, shared by all parts. */
  readonly root: string
  /** Skips the ledger of a million events and shortens the other measurements. */
  readonly isQuick: boolean
  report(name: string, figures: unknown): void
}

const SIZES = [10_000, 100_000, 1_000_000]
const QUICK_SIZES = SIZES.slice(0, 2)
const FOLDED = 100_000

export const parts = {
  async append({ root, report }) {
    const directory = join(root, 'append')
    mkdirSync(directory, { recursive: true })
    report('append', await benchAppend(directory))
  },
  async engine({ root, isQuick, report }) {
    const directory = join(root, 'engine')
    // The account of the server passes through.
    chmodSync(root, 0o711)
    mkdirSync(directory)
    report('engine', await benchEngine(directory, isQuick ? { runs: 3, events: 30_000 } : {}))
  },
  async views(bench) {
    const { isQuick, report } = bench
    const ledgers = (isQuick ? QUICK_SIZES : SIZES).map((size) => ({
      size,
      directory: ledgerOf(bench, size),
    }))
    report('pages', benchPages(ledgers))
    report('operations report', benchReports(ledgers))
    report('lookups', benchLookups(ledgers))
    report('folds', benchFolds(ledgerOf(bench, FOLDED)))
    const largest = largestOf(bench)
    report(`cold start ${largest}`, await benchColdStart(ledgerOf(bench, largest)))
  },
  async erasing(bench) {
    const sizes = bench.isQuick ? QUICK_SIZES : SIZES
    bench.report(
      'erasing',
      await benchErasing(sizes.map((size) => ({ size, directory: ledgerOf(bench, size) }))),
    )
  },
  async turns({ isQuick, report }) {
    const turns = await benchTurns(
      isQuick ? { turns: 200, longTurns: 400 } : { turns: 1000, longTurns: 10_000 },
    )
    for (const [name, figures] of Object.entries(turns)) report(`turn ${name}`, figures)
  },
  async bridge({ isQuick, report }) {
    const seconds = isQuick ? 20 : 60
    report('bridge alone', await benchBridge({ seconds }))
    report('bridge alone, from a browser', await benchBridge({ seconds, place: 'browser' }))
  },
  async 'spoken-call'({ isQuick, report }) {
    report('call by transcription and speech', await benchSpokenCall({ turns: isQuick ? 20 : 100 }))
  },
  async 'loaded-bridge'(bench) {
    const { isQuick, report } = bench
    const largest = largestOf(bench)
    const seconds = isQuick ? 20 : 60
    for (const place of ['phone', 'browser'] as const) {
      // Each writes to its ledger, whose owner is installed once.
      const directory = join(bench.root, `loaded-${place}`)
      prepareLedger(directory, largest)
      report(
        `bridge beside chat, from a ${place}, over ${largest} events and a slow disk`,
        await benchLoadedBridge({ directory, seconds, place }),
      )
    }
  },
  async memories({ isQuick, report }) {
    report('turn and memories', await benchMemories({ few: 100, many: 50_000, turns: isQuick ? 200 : 1000 }))
  },
} satisfies Record<string, (bench: Bench) => Promise<void>>

export type PartName = keyof typeof parts

const largestOf = ({ isQuick }: Bench): number => Math.max(...(isQuick ? QUICK_SIZES : SIZES))

/** The directory of a ledger of `size` events, created on first use. */
function ledgerOf({ root }: Bench, size: number): string {
  const directory = join(root, `ledger-${size}`)
  if (!existsSync(directory)) prepareLedger(directory, size)
  return directory
}
