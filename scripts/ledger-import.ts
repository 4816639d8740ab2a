import { examineLedger } from '../ledger/examine.ts'
import { ledgerFile } from '../ledger/files.ts'
import { importLines } from '../ledger/import.ts'
import { markImported } from '../ledger/imported.ts'
import { type Ledger, openLedger } from '../ledger/ledger.ts'
import { HELD, headLines, runCommand } from './lib/command.ts'
import { openExport } from './lib/export-source.ts'
import { linesOf } from './lib/lines.ts'
import { closeWhole, openStaging } from './lib/staging.ts'

const help = `npm run ledger:import -- <file | ->

Creates a ledger in DATA_DIR, which must be empty or absent, from the output of npm run ledger:export
(- reads standard input), or from a zip that was exported in the browser, also once it is unpacked. The new ledger has
the same id and head hash. Checks each line before writing it; if a check fails, leaves nothing behind.

Exports include no settings, password or secrets. Set a password with npm run owner:reset-password. Nothing is sent
until you release it in the browser.
`

await runCommand({
  help,
  positionals: { min: 1, max: 1 },
  async run({ dataDir, positionals: [source = '-'] }) {
    const staging = openStaging(dataDir)
    let ledger: Ledger | undefined
    try {
      const header = await importLines(linesOf(await openExport(source)), (ledgerId) => {
        ledger = openLedger(staging.directory, () => ledgerId)
        return ledger
      })
      if (!ledger) return
      const head = examineLedger(ledger.db, ledgerFile(staging.directory))
      markImported(ledger, { source: 'import', headSeq: header.events, headHash: header.headHash })
      closeWhole(ledger)
      staging.publish(['ledger.sqlite'])
      process.stdout.write(`Imported ${head.seq} events into ${dataDir}.\n${headLines(head)}`)
      process.stdout.write(HELD)
    } finally {
      ledger?.close()
      staging.discard()
    }
  },
})
