import { closing } from '../ledger/closing.ts'
import { LedgerDamaged } from '../ledger/errors.ts'
import { examineLedger } from '../ledger/examine.ts'
import { ledgerFile, openLedgerReadOnly } from '../ledger/files.ts'
import { foreignTables } from '../ledger/inspect.ts'
import { openGaps } from '../ledger/lost.ts'
import { createReader } from '../ledger/reader.ts'
import { requireWitnessed } from '../ledger/witness.ts'
import { asCalled } from '../src/lib/as-called.ts'
import { type Call, headLines, Misused, requireLedger, runCommand } from './lib/command.ts'
import { readableDirectory } from './lib/readable.ts'
import { verifyStores } from './lib/verify-stores.ts'
import { readWitnesses } from './lib/witnesses.ts'

const help = `npm run ledger:verify [-- --expect <seq>:<hash>]

Verifies the whole ledger of DATA_DIR: every link of the chain, every body against its digest, every erasure, the
guards, the structure of the file and its indexes, and that no event is missing that the views or ledger.head know of.
Then checks settings.sqlite and views.sqlite. Read-only; the service may be running. If the disk is read-only or full,
it reads a temporary copy in TMPDIR.

  --expect <seq>:<hash>  a head noted earlier, as a backup prints it. That event must still exist, unchanged. Only a
                         head kept elsewhere shows that someone replaced the whole chain.

Prints the head. Exits with 1 if the ledger or the settings are damaged, and names the first damaged event; also if
secret.key is not the key of the stored secrets. If it is missing, it says so and exits with 0.
`

await runCommand({
  help,
  options: { expect: { type: 'string' } },
  run({ dataDir, values }) {
    const expected = parseHead(values.expect)
    requireLedger(dataDir)
    const directory = readableDirectory(dataDir)
    // Read before the ledger, which is always written first and so cannot be behind them.
    const witnesses = readWitnesses(directory)
    using db = closing(openLedgerReadOnly(directory))
    const head = examineLedger(db, ledgerFile(dataDir), {
      compare(ledger) {
        requireWitnessed(ledger, witnesses)
        if (expected && ledger.hashAt(expected.seq) !== expected.hash)
          throw new LedgerDamaged(`event ${expected.seq} is not the expected one`, { seq: expected.seq })
      },
    })
    const gaps = openGaps(createReader(db))
    if (expected) requireVouched(gaps, expected.seq)
    const verdict = gaps.length === 0 ? 'sound' : 'sound, but INCOMPLETE'
    process.stdout.write(`The ledger is ${verdict}: ${head.seq} events.\n${headLines(head)}`)
    for (const gap of gaps) process.stdout.write(`${gapLine(gap)}\n`)
    const foreign = foreignTables(db)
    if (foreign.length > 0)
      process.stdout.write(`Hint: another program keeps tables in ledger.sqlite: ${foreign.join(', ')}.\n`)
    for (const line of verifyStores(directory, dataDir)) process.stdout.write(`${asCalled(line)}\n`)
  },
})

function gapLine({ firstSeq, lastSeq, namedBy }: ReturnType<typeof openGaps>[number]): string {
  const which = firstSeq === lastSeq ? `event ${firstSeq} is` : `events ${firstSeq} to ${lastSeq} are`
  return `gap    ${which} missing, as event ${namedBy} acknowledges`
}

/** A head vouches for what is before it only along an unbroken chain. */
function requireVouched(gaps: ReturnType<typeof openGaps>, seq: number): void {
  const gap = gaps.findLast(({ firstSeq, namedBy }) => firstSeq <= seq && seq < namedBy)
  if (!gap) return
  throw new LedgerDamaged(
    `event ${seq} is the expected one, but was noted before the gap at event ${gap.firstSeq} was acknowledged. It does ` +
      'not vouch for the events before that gap. Run this without --expect, and note the head that it prints',
    { seq: gap.firstSeq },
  )
}

function parseHead(text: Call['values'][string]): { seq: number; hash: string } | null {
  if (text === undefined) return null
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(String(text))
  if (!match?.[1] || !match[2]) throw new Misused('--expect takes a seq and a hash, like 17:ab…')
  return { seq: Number(match[1]), hash: match[2] }
}
