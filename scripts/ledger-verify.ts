import { closing } from '../ledger/closing.ts'
import { LedgerDamaged } from '../ledger/errors.ts'
import { examineLedger } from '../ledger/examine.ts'
import { ledgerFile, openLedgerReadOnly } from '../ledger/files.ts'
import { createReader } from '../ledger/reader.ts'
import { headLines, Misused, requireLedger, runCommand } from './lib/command.ts'
import { readableDirectory } from './lib/readable.ts'
import { verifyStores } from './lib/verify-stores.ts'
import { readWitnesses, requireWitnessed } from './lib/witnesses.ts'

const help = `npm run ledger:verify [-- --expect <seq>:<hash>]

Verifies the whole ledger of DATA_DIR: every link of the chain, every body against its digest, every erasure, the
guards, the structure of the file and its indexes, and that no event is missing that the views or ledger.head know of.
Then checks settings.sqlite and views.sqlite. Read-only; the service may be running. If the disk is read-only or full,
it reads a temporary copy in TMPDIR.

  --expect <seq>:<hash>  a head noted earlier, as a backup prints it. That event must still exist, unchanged. Only a
                         head kept elsewhere shows that someone replaced the whole chain.

Prints the head. Exits with 1 if the ledger or the settings are damaged, and names the first damaged event.
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
    const ledger = createReader(db)
    const head = examineLedger(db, ledgerFile(dataDir))
    requireWitnessed(ledger, witnesses)
    if (expected && ledger.hashAt(expected.seq) !== expected.hash)
      throw new LedgerDamaged(`event ${expected.seq} is not the expected one`, { seq: expected.seq })
    process.stdout.write(`The ledger is sound: ${head.seq} events.\n${headLines(head)}`)
    for (const line of verifyStores(directory, dataDir)) process.stdout.write(`${line}\n`)
  },
})

function parseHead(text: string | boolean | undefined): { seq: number; hash: string } | null {
  if (text === undefined) return null
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(String(text))
  if (!match?.[1] || !match[2]) throw new Misused('--expect takes a seq and a hash, like 17:ab…')
  return { seq: Number(match[1]), hash: match[2] }
}
