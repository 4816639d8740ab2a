import { existsSync } from 'node:fs'
import { closing } from '../ledger/closing.ts'
import { openLedgerReadOnly, viewsFile } from '../ledger/files.ts'
import { createReader } from '../ledger/reader.ts'
import { witnessOf } from '../projections/checkpoints.ts'
import type { FoldTrace } from '../projections/projector.ts'
import { openViewsReadOnly } from '../projections/views.ts'
import { traceToStderr } from '../src/storage/trace.ts'
import { Refused, requireLedger, runCommand } from './lib/command.ts'
import { type ComparisonOutcome, compareWithLive, foldOnly } from './lib/live-comparison.ts'
import { readableDirectory } from './lib/readable.ts'
import { damageOfViews } from './lib/verify-stores.ts'

const help = `npm run ledger:replay

Rebuilds all views from the ledger of DATA_DIR in a temporary database and compares them with the views in use: every
row of every table, and every word of the search indexes. Read-only; the service may be running, but its erasures
wait for the end of the replay. If the disk is read-only or full, it reads a temporary copy in TMPDIR.

Prints for each projection the last event compared, its number of rows, and its fold rate in events per second. Exits
with 1 if anything differs or could not be compared. Without views, as after an import, it only folds the
ledger.

  LEDGER_DEBUG=1  logs a line per event to standard error: seq, type, bytes and the µs of each fold, never its words.
`

await runCommand({
  help,
  async run({ dataDir, ledgerDebug }) {
    requireLedger(dataDir)
    const directory = readableDirectory(dataDir)
    const hasViews = existsSync(viewsFile(directory))
    const damage = hasViews ? damageOfViews(directory) : null
    if (damage !== null) throw new Refused(damage)
    // SQLite spills to nameless files here: the disk holds the same words anyway.
    process.env.SQLITE_TMPDIR = directory
    const microsByProjection = new Map<string, number>()
    const trace: FoldTrace = (event, micros) => {
      for (const [name, each] of micros)
        microsByProjection.set(name, (microsByProjection.get(name) ?? 0) + each)
      if (ledgerDebug) traceToStderr(event, micros)
    }
    using ledgerDb = closing(openLedgerReadOnly(directory))
    if (!hasViews) {
      process.stdout.write(report(foldOnly(ledgerDb, trace), microsByProjection, 'folded'))
      process.stdout.write(`There are no views in ${dataDir} yet, so there was nothing to compare with.\n`)
      return
    }
    using live = closing(openViewsReadOnly(directory))
    if (witnessOf(live, directory)?.ledgerId !== createReader(ledgerDb).id())
      throw new Refused('The views belong to another ledger. Start the service to rebuild them.')
    const outcome = await compareWithLive(ledgerDb, live, trace)
    process.stdout.write(report(outcome, microsByProjection, 'equal'))
    const flaws = outcome.projections.filter(({ flaw }) => flaw !== null)
    if (flaws.length > 0)
      throw new Refused(
        `${flaws.length} of ${outcome.projections.length} views differ from the ledger or could not be compared.`,
      )
    process.stdout.write('The views match the ledger.\n')
  },
})

function report(
  outcome: ComparisonOutcome,
  microsByProjection: ReadonlyMap<string, number>,
  flawless: string,
): string {
  const lines = [row('projection', 'through', 'rows', 'events/s', '')]
  for (const { name, seq, rows, flaw } of outcome.projections) {
    const rate = perSecond(seq, (microsByProjection.get(name) ?? 0) / 1000)
    lines.push(row(name, String(seq), String(rows), rate, flaw ?? flawless))
  }
  const { foldedEvents, foldMs, headSeq } = outcome
  lines.push(row('all', String(headSeq), '', perSecond(foldedEvents, foldMs), `in ${Math.round(foldMs)} ms`))
  return `${lines.join('\n')}\n`
}

function row(name: string, seq: string, rows: string, rate: string, verdict: string): string {
  return `${name.padEnd(20)}${seq.padStart(10)}${rows.padStart(10)}${rate.padStart(12)}  ${verdict}`.trimEnd()
}

function perSecond(events: number, ms: number): string {
  return ms === 0 ? '-' : String(Math.round((events / ms) * 1000))
}
