import { createReadStream, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { openPromise } from 'yauzl'
import { examineLedger } from '../ledger/examine.ts'
import { ledgerFile } from '../ledger/files.ts'
import { importLines } from '../ledger/import.ts'
import { markImported } from '../ledger/imported.ts'
import { type Ledger, openLedger } from '../ledger/ledger.ts'
import { HELD, headLines, Refused, runCommand } from './lib/command.ts'
import { LEDGER_ENTRY } from './lib/export.ts'
import { linesOf } from './lib/lines.ts'
import { closeWhole, openStaging } from './lib/staging.ts'

const help = `npm run ledger:import -- <file | ->

Creates a ledger in DATA_DIR, which must be empty or absent, from the output of npm run ledger:export
(- reads standard input), or from a zip that was exported in the browser. The new ledger has the same id and head
hash. Checks each line before writing it; if a check fails, leaves nothing behind.

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
      const input = source === '-' ? process.stdin : await openSource(source)
      const header = await importLines(linesOf(input.setEncoding('utf8')), (ledgerId) => {
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

async function openSource(file: string): Promise<Readable> {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) throw new Refused(`${file} does not exist.`)
  if (found.isDirectory())
    throw new Refused(`${file} is a directory, not an export. If it is a backup, run npm run restore.`)
  if (!file.endsWith('.zip')) return createReadStream(file)
  const zip = await openPromise(file)
  for await (const entry of zip.eachEntry())
    if (entry.fileName === LEDGER_ENTRY) return zip.openReadStreamPromise(entry)
  throw new Refused(`${file} has no ${LEDGER_ENTRY}, so it is not an export of Delegate.`)
}
