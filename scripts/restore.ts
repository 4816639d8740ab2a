import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { closing } from '../ledger/closing.ts'
import { markImported } from '../ledger/imported.ts'
import { openLedger } from '../ledger/ledger.ts'
import { ADAPTATIONS_DIRECTORY } from '../src/adaptations/files.ts'
import { secretKeyFile } from '../src/settings/secrets.ts'
import { openSettingsStore } from '../src/settings/store.ts'
import { readManifest } from './lib/backup.ts'
import { HELD, headLines, Refused, runCommand } from './lib/command.ts'
import { restoreInto } from './lib/restoring.ts'
import { openSealedBackup } from './lib/sealed-backup.ts'
import { closeWhole, openStaging } from './lib/staging.ts'
import { readSecret } from './lib/typed-secret.ts'

const help = `npm run restore -- <backup>

Restores a backup into DATA_DIR, which must be empty or absent: the ledger with the same head, the settings and the
adaptation files. The copy is opened and its whole chain verified before it gets its name; if a check fails, nothing
is left behind. A secret.key that is already in DATA_DIR is kept and used.

The backup is a directory that \`npm run backup\` made, or an encrypted file that the service made
(delegate-<time>.backup). The passphrase of a file is read from BACKUP_PASSPHRASE, or else from the first line of
standard input; at a terminal, the command asks for it.

Everyone has to sign in again. Nothing is sent until you release it in the browser, because what was
pending in the backup may have been sent since.
`

await runCommand({
  help,
  positionals: { min: 1, max: 1 },
  async run({ dataDir, positionals: [given = ''] }) {
    const backup = resolve(given)
    const isFile = statSync(backup, { throwIfNoEntry: false })?.isFile() === true
    // Before anything is created. A file shows whether it is a backup once it is opened.
    if (isFile) requireNoExport(backup)
    else readManifest(backup)
    const passphrase = isFile ? await readPassphrase() : ''
    const staging = openStaging(dataDir)
    try {
      const source = isFile ? join(staging.directory, 'opened') : backup
      if (isFile) await openSealedBackup(backup, source, passphrase)
      const { head, hasSettings, hasAdaptations } = await restoreInto(source, staging.directory)
      if (hasSettings) endSessions(staging.directory)
      mark(staging.directory, head.seq, head.hash)
      staging.publish([
        ...(hasAdaptations ? [ADAPTATIONS_DIRECTORY] : []),
        ...(hasSettings ? ['settings.sqlite'] : []),
        'ledger.sqlite',
      ])
      process.stdout.write(`Restored ${head.seq} events into ${dataDir}.\n`)
      process.stdout.write(headLines(head))
      process.stdout.write(HELD)
      if (!existsSync(secretKeyFile(dataDir)))
        process.stdout.write(
          `Copy the secret.key of the service into ${dataDir}, or enter the provider keys again.\n`,
        )
    } finally {
      staging.discard()
    }
  },
})

/** Throws Refused for JSON Lines and for a zip. */
function requireNoExport(file: string): void {
  const start = Buffer.alloc(2)
  const descriptor = openSync(file, 'r')
  readSync(descriptor, start)
  closeSync(descriptor)
  if (['{"', 'PK'].includes(start.toString('latin1')))
    throw new Refused(`${file} is an export, not a backup. To read it, run npm run ledger:import.`)
}

async function readPassphrase(): Promise<string> {
  const refusal = 'No passphrase was given. Nothing was restored.'
  const passphrase =
    process.env.BACKUP_PASSPHRASE ?? (await readSecret('Passphrase of the backup: ', refusal))
  if (passphrase === '') throw new Refused(refusal)
  return passphrase
}

/** Sessions that ended since the backup must not come back. */
function endSessions(directory: string): void {
  using store = closing(openSettingsStore(directory))
  store.deleteSessions(store.sessions().map(({ id }) => id))
}

function mark(directory: string, headSeq: number, headHash: string): void {
  using ledger = closing(openLedger(directory, () => ''))
  markImported(ledger, { source: 'restore', headSeq, headHash })
  // A restored directory is one machine, even if PostgreSQL committed the ledger and is lost.
  ledger.setEngine('sqlite')
  closeWhole(ledger)
}
