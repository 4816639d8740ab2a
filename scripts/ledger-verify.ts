import Database from 'better-sqlite3'
import { LedgerDamaged } from '../ledger/errors.ts'
import { examineLedger } from '../ledger/examine.ts'
import { ledgerFile, openLedgerReadOnly } from '../ledger/files.ts'
import type { Witness } from '../ledger/inspect.ts'
import { createReader } from '../ledger/reader.ts'
import { witnessOf } from '../projections/checkpoints.ts'
import { openViewsReadOnly } from '../projections/views.ts'
import { headLines, Misused, requireLedger, runCommand } from './lib/command.ts'
import { verifyStores } from './lib/verify-stores.ts'

const help = `npm run ledger:verify [-- --expect <seq>:<hash>]

Walks the ledger of DATA_DIR from its first event to its last: every link of the chain, every body against its
digest, every erasure, the guards and the structure of the file. Then checks settings.sqlite and views.sqlite.
Reads only; the service may be running.

  --expect <seq>:<hash>  a head noted earlier (a backup prints one): that event must still be there, unchanged.
                         Whoever owns the file could write a whole new chain; only a head kept elsewhere shows it.

Prints the head. Exit code 1 when the ledger or the settings are damaged; the first event that is not as it was written is named.
`

await runCommand({
  help,
  positionals: { min: 0, max: 0 },
  options: { expect: { type: 'string' } },
  run({ dataDir, values }) {
    const expected = parseHead(values.expect)
    requireLedger(dataDir)
    // Before the ledger: it is always written first, so it cannot be behind what they have seen by now.
    const witness = readViewsWitness(dataDir)
    const db = openLedgerReadOnly(dataDir)
    try {
      const head = examineLedger(db, ledgerFile(dataDir))
      if (witness && witness.ledgerId === head.ledgerId && witness.seq > head.seq)
        throw new LedgerDamaged(
          `it ends with event ${head.seq}, but the views had followed it to event ${witness.seq}`,
          { seq: head.seq + 1 },
        )
      if (expected && createReader(db).hashAt(expected.seq) !== expected.hash)
        throw new LedgerDamaged(`event ${expected.seq} is not the one that was expected`, {
          seq: expected.seq,
        })
      process.stdout.write(`The ledger is sound: ${head.seq} events.\n${headLines(head)}`)
    } finally {
      db.close()
    }
    for (const line of verifyStores(dataDir)) process.stdout.write(`${line}\n`)
  },
})

function parseHead(text: string | boolean | undefined): { seq: number; hash: string } | null {
  if (text === undefined) return null
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(String(text))
  if (!match?.[1] || !match[2]) throw new Misused('--expect takes a seq and a hash, like 17:ab…')
  return { seq: Number(match[1]), hash: match[2] }
}

/** Views that are not there, or damaged, bear no witness. */
function readViewsWitness(dataDir: string): Witness | null {
  try {
    const views = openViewsReadOnly(dataDir)
    try {
      return witnessOf(views)
    } finally {
      views.close()
    }
  } catch (error) {
    if (error instanceof Database.SqliteError) return null
    throw error
  }
}
