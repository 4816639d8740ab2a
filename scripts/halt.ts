import { makeFile } from '../ledger/files.ts'
import { haltFile } from '../src/halt/file.ts'
import { requireLedger, runCommand } from './lib/command.ts'

const help = `npm run halt

Halts the delegate of DATA_DIR, whether or not the service runs. It answers in chat and does nothing else until you
release it in the browser, with your password.
`

await runCommand({
  help,
  run({ dataDir }) {
    requireLedger(dataDir)
    // A file, because the service holds the lock of the ledger. It records the halt and removes the file.
    makeFile(haltFile(dataDir))
    process.stdout.write(
      'Halted. From now on, Delegate sends, calls and starts nothing. A running service records this within a second\n' +
        'and ends tasks and calls in progress; a stopped one records it at its next start.\n' +
        'To go on, choose Release in the browser and enter your password.\n',
    )
  },
})
