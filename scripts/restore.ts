import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { closing } from '../ledger/closing.ts'
import { LedgerDamaged } from '../ledger/errors.ts'
import { markImported } from '../ledger/imported.ts'
import { openLedger } from '../ledger/ledger.ts'
import { ADAPTATIONS_DIRECTORY } from '../src/adaptations/files.ts'
import { secretKeyFile } from '../src/settings/secrets.ts'
import { openSettingsStore } from '../src/settings/store.ts'
import { checkCopied, copyAdaptationFiles } from './lib/adaptation-files.ts'
import { checkSettings, copyLedger, copySettings, readManifest } from './lib/backup.ts'
import { headLines, runCommand } from './lib/command.ts'
import { closeWhole, openStaging } from './lib/staging.ts'

const help = `npm run restore -- <directory of a backup>

Restores a backup into DATA_DIR, which must be empty or absent: the ledger with the same head, the settings and the
adaptation files. The copy is opened and its whole chain verified before it gets its name; if a check fails, nothing
is left behind. A secret.key that is already in DATA_DIR is kept and used.

Everyone has to sign in again. Nothing is sent until you release it (POST /api/outbound/release), because what was
pending in the backup may have been sent since.
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
          `the backup's ledger ends with event ${head.seq} and is not the one that was backed up`,
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
      process.stdout.write(`Restored ${events} events into ${dataDir}.\n`)
      process.stdout.write(headLines(head))
      process.stdout.write('Nothing is sent until you release it: POST /api/outbound/release.\n')
      if (!existsSync(secretKeyFile(dataDir)))
        process.stdout.write(
          'Copy the secret.key of the service into it, or enter the provider keys again.\n',
        )
    } finally {
      staging.discard()
    }
  },
})

/** Sessions that ended since the backup must not come back. */
function endSessions(directory: string): void {
  using store = closing(openSettingsStore(directory))
  store.deleteSessions(store.sessions().map(({ id }) => id))
}

function mark(directory: string, headSeq: number, headHash: string): void {
  using ledger = closing(openLedger(directory, () => ''))
  markImported(ledger, { source: 'restore', headSeq, headHash })
  closeWhole(ledger)
}
