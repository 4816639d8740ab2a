import { resolve } from 'node:path'
import { makeBackup } from './lib/backup.ts'
import { headLines, requireLedger, runCommand } from './lib/command.ts'

const help = `npm run backup -- <directory>

Copies the ledger, the settings and the adaptations that are files of DATA_DIR into a directory that must be empty or
absent; the service may be running. The copy is one state of the ledger; it is opened, and its whole chain walked,
before it gets its name.

Neither secret.key nor the views are in it. Keep secret.key elsewhere: without it the provider keys have to be
entered again. The backup holds everything that was said, in clear.
`

await runCommand({
  help,
  positionals: { min: 1, max: 1 },
  async run({ dataDir, positionals: [target = ''] }) {
    requireLedger(dataDir)
    const destination = resolve(target)
    const { ledgerId, events, headHash } = await makeBackup(dataDir, destination, Date.now)
    process.stdout.write(`${events} events are backed up in ${destination}, and verified there.\n`)
    process.stdout.write(headLines({ ledgerId, seq: events, hash: headHash }))
    process.stdout.write('secret.key is not in it: keep that elsewhere.\n')
  },
})
