import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { LedgerDamaged } from '../ledger/errors.ts'
import { markImported } from '../ledger/imported.ts'
import { openLedger } from '../ledger/ledger.ts'
import { ADAPTATIONS_DIRECTORY } from '../src/adaptations/adaptations.ts'
import { secretKeyFile } from '../src/settings/secrets.ts'
import { openSettingsStore } from '../src/settings/store.ts'
import { checkCopied, copyAdaptationFiles } from './lib/adaptation-files.ts'
import { checkSettings, copyLedger, copySettings, readManifest } from './lib/backup.ts'
import { headLines, runCommand } from './lib/command.ts'
import { closeWhole, openStaging } from './lib/staging.ts'

const help = `npm run restore -- <directory of a backup>

Makes DATA_DIR, which must be empty or absent, from a backup: the same ledger with the same head, its settings, and
the adaptations that are files.
The copy is opened and its whole chain walked before it gets its name; when anything does not fit, nothing is left
behind. A secret.key that lies in DATA_DIR already is kept, and used.

Everybody has to sign in again. The service sends nothing out until you release it (POST /api/outbound/release):
what the backup still holds as to be sent may have been sent since.
`

await runCommand({
  help,
  positionals: { min: 1, max: 1 },
  async run({ dataDir, positionals: [given = ''] }) {
    const source = resolve(given)
    const manifest = readManifest(source)
    checkSettings(source, manifest)
    const staging = openStaging(dataDir)
    try {
      const head = await copyLedger(source, staging.directory)
      const { ledgerId, events, headHash } = manifest
      if (head.ledgerId !== ledgerId || head.seq !== events || head.hash !== headHash)
        throw new LedgerDamaged(
          `the backup's ledger ends with event ${head.seq}, and is not the one that was backed up`,
        )
      const hasSettings = await copySettings(source, staging.directory)
      if (hasSettings) endSessions(staging.directory)
      const adaptations = await copyAdaptationFiles(source, staging.directory)
      checkCopied(adaptations, manifest.adaptations)
      mark(staging.directory, events, headHash)
      staging.publish([
        ...(adaptations.length > 0 ? [ADAPTATIONS_DIRECTORY] : []),
        ...(hasSettings ? ['settings.sqlite'] : []),
        'ledger.sqlite',
      ])
      process.stdout.write(`${events} events are restored into ${dataDir}.\n`)
      process.stdout.write(headLines(head))
      process.stdout.write('Nothing is sent out until you release it: POST /api/outbound/release.\n')
      if (!existsSync(secretKeyFile(dataDir)))
        process.stdout.write(
          'Put the secret.key of the service beside it, or enter the provider keys again.\n',
        )
    } finally {
      staging.discard()
    }
  },
})

/** A session that was ended since the backup must not come back with it. */
function endSessions(directory: string): void {
  const store = openSettingsStore(directory)
  try {
    store.deleteSessions(store.sessions().map(({ id }) => id))
  } finally {
    store.close()
  }
}

function mark(directory: string, headSeq: number, headHash: string): void {
  const ledger = openLedger(directory, () => '')
  try {
    markImported(ledger, { source: 'restore', headSeq, headHash })
    closeWhole(ledger)
  } finally {
    ledger.close()
  }
}
