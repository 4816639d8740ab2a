import { createReadStream } from 'node:fs'
import { examineLedger } from '../ledger/examine.ts'
import { ledgerFile } from '../ledger/files.ts'
import { importLines } from '../ledger/import.ts'
import { markImported } from '../ledger/imported.ts'
import { type Ledger, openLedger } from '../ledger/ledger.ts'
import { headLines, runCommand } from './lib/command.ts'
import { linesOf } from './lib/lines.ts'
import { closeWhole, openStaging } from './lib/staging.ts'

const help = `npm run ledger:import -- <file | ->

Makes a ledger in DATA_DIR, which must be empty or absent, from what ledger:export wrote (- reads standard input):
the same ledger, with the same id and the same head hash. Every line is checked before it is written; when anything
does not fit, nothing is left behind.

Settings, password and secrets are in no export: npm run owner:reset-password sets a password. The service then
sends nothing out until you release it (POST /api/outbound/release).
`

await runCommand({
  help,
  positionals: { min: 1, max: 1 },
  async run({ dataDir, positionals: [source = '-'] }) {
    const staging = openStaging(dataDir)
    let ledger: Ledger | undefined
    try {
      const input = source === '-' ? process.stdin : createReadStream(source)
      const header = await importLines(linesOf(input.setEncoding('utf8')), (ledgerId) => {
        ledger = openLedger(staging.directory, () => ledgerId)
        return ledger
      })
      if (!ledger) return
      const head = examineLedger(ledger.db, ledgerFile(staging.directory))
      markImported(ledger, { source: 'import', headSeq: header.events, headHash: header.headHash })
      closeWhole(ledger)
      staging.publish(['ledger.sqlite'])
      process.stdout.write(`${head.seq} events are imported into ${dataDir}.\n${headLines(head)}`)
      process.stdout.write('Nothing is sent out until you release it: POST /api/outbound/release.\n')
    } finally {
      ledger?.close()
      staging.discard()
    }
  },
})
