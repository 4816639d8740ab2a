import { resolve } from 'node:path'
import { asCalled } from '../src/lib/as-called.ts'
import { liesOutside } from '../src/settings/outside-data.ts'
import { hasSettings } from '../src/settings/store.ts'
import { makeBackup } from './lib/backup.ts'
import { headLines, Refused, requireLedger, runCommand } from './lib/command.ts'
import { newestState } from './lib/engine.ts'
import { readableDirectory } from './lib/readable.ts'
import { NO_SETTINGS } from './lib/verify-stores.ts'

const help = `npm run backup -- <directory>

Copies the ledger, the settings and the adaptation files of DATA_DIR into a directory that must be empty or absent, and
outside DATA_DIR. The service may be running. The copy is one consistent state of the ledger. It is opened and its whole
chain verified before it gets its name.

If PostgreSQL commits the ledger, settings and adaptation files are taken from there on a machine that did not write them.
This needs LEDGER_POSTGRES_URL. If PostgreSQL is lost, unset it: the backup then has the files of this machine.

The backup has neither secret.key nor the views. Keep secret.key elsewhere: without it, you have to enter the provider
keys again. The backup holds everything that was said, unencrypted.
`

await runCommand({
  help,
  positionals: { min: 1, max: 1 },
  async run({ dataDir, positionals: [target = ''] }) {
    requireLedger(dataDir)
    const destination = resolve(target)
    if (!liesOutside(destination, dataDir))
      throw new Refused('The backup must be outside the data directory.')
    const databases = readableDirectory(dataDir)
    const { state, notes } = await newestState(databases)
    const made = await makeBackup(dataDir, destination, Date.now, { databases, state })
    const { ledgerId, events, headHash } = made
    process.stdout.write(`Backed up and verified ${events} events in ${destination}.\n`)
    process.stdout.write(headLines({ ledgerId, seq: events, hash: headHash }))
    if (!hasSettings(destination)) process.stdout.write(`${asCalled(NO_SETTINGS)}\n`)
    for (const note of notes) process.stdout.write(`${note}\n`)
    process.stdout.write('The backup does not include secret.key. Keep it elsewhere.\n')
  },
})
