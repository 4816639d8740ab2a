import { LedgerDamaged } from '../../ledger/errors.ts'
import { ADAPTATIONS_DIRECTORY } from '../../src/adaptations/files.ts'
import { SETTINGS_FILE } from '../../src/settings/store.ts'
import { copyLedger, copyMarkdown, copySmall } from '../../src/storage/backup.ts'
import { checkCopied, checkSettings, readManifest } from './backup.ts'

export type Restored = Awaited<ReturnType<typeof restoreInto>>

/**
 * Restores the directory of a backup into another one, and verifies the copy: the whole chain, the head and the
 * digests of the manifest. Throws Refused or LedgerDamaged.
 */
export async function restoreInto(source: string, target: string) {
  const manifest = readManifest(source)
  checkSettings(source, manifest)
  const head = await copyLedger(source, target)
  const { ledgerId, events, headHash } = manifest
  if (head.ledgerId !== ledgerId || head.seq !== events || head.hash !== headHash)
    throw new LedgerDamaged(
      `the backup's ledger ends with event ${head.seq} and is not the one that was backed up`,
    )
  const hasSettings = await copySmall(SETTINGS_FILE, source, target)
  const adaptations = await copyMarkdown(ADAPTATIONS_DIRECTORY, source, target)
  checkCopied(adaptations, manifest.adaptations)
  return { head, hasSettings, hasAdaptations: adaptations.length > 0 }
}
