import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkHeader, ledgerFile } from '../../ledger/files.ts'
import { ADAPTATIONS_DIRECTORY } from '../../src/adaptations/files.ts'
import { parseJson } from '../../src/lib/parse-json.ts'
import { SETTINGS_FILE, settingsFile } from '../../src/settings/store.ts'
import {
  type BackupOptions,
  type CopiedFile,
  digestOf,
  MANIFEST,
  type Manifest,
  manifestSchema,
  writeBackup,
} from '../../src/storage/backup.ts'
import { Refused, undoAtExit } from './command.ts'
import { readableDirectory } from './readable.ts'
import { readWitnesses } from './witnesses.ts'

/**
 * Backs up a data directory, as `writeBackup` does, from a readable copy of it if it is not readable itself. Throws
 * Refused if the destination is not empty, and LedgerDamaged if the copy is damaged or lacks events.
 */
export async function makeBackup(
  dataDir: string,
  destination: string,
  nowMs: () => number,
  { databases = readableDirectory(dataDir), state }: Pick<BackupOptions, 'databases' | 'state'> = {},
): Promise<Manifest> {
  if (existsSync(destination) && readdirSync(destination).length > 0)
    throw new Refused(`${destination} is not empty. A backup needs an empty directory.`)
  return writeBackup({
    dataDir,
    destination,
    places: { database: SETTINGS_FILE, directory: ADAPTATIONS_DIRECTORY },
    nowMs,
    databases,
    state,
    witnesses: readWitnesses(databases),
    onBegun: undoAtExit,
  })
}

/** Throws Refused if the settings of a backup are not those that were backed up. */
export function checkSettings(directory: string, { settings }: Manifest): void {
  if (settings === undefined) return
  const file = settingsFile(directory)
  const found = existsSync(file) ? digestOf(file) : null
  if (found === settings) return
  throw new Refused(
    found === null
      ? 'The backup lacks settings.sqlite.'
      : 'settings.sqlite is not the file that was backed up. Use another backup.',
  )
}

/** Throws Refused if the copied adaptation files are not the expected ones. */
export function checkCopied(copied: readonly CopiedFile[], wanted: readonly CopiedFile[]): void {
  const digests = new Map(copied.map(({ file, digest }) => [file, digest]))
  for (const { file, digest } of wanted) {
    const found = digests.get(file)
    if (found === undefined) throw new Refused(`The backup lacks ${ADAPTATIONS_DIRECTORY}/${file}.`)
    if (found !== digest)
      throw new Refused(`${ADAPTATIONS_DIRECTORY}/${file} is not the file that was backed up.`)
    digests.delete(file)
  }
  for (const file of digests.keys())
    throw new Refused(`${ADAPTATIONS_DIRECTORY}/${file} was not in the backup when it was made.`)
}

/** Reads the manifest of a backup. Throws Refused if it is not a backup. */
export function readManifest(directory: string): Manifest {
  const file = join(directory, MANIFEST)
  if (!existsSync(file))
    throw new Refused(
      `There is no backup in ${directory}: it has no ${MANIFEST}. To restore an encrypted backup, name its file.`,
    )
  if (!existsSync(ledgerFile(directory))) throw new Refused(`The backup in ${directory} lacks ledger.sqlite.`)
  checkHeader(ledgerFile(directory))
  const manifest = manifestSchema.safeParse(parseJson(readFileSync(file, 'utf8')))
  if (manifest.success) return manifest.data
  throw new Refused(`${file} does not describe a backup that this build can read.`, { cause: manifest.error })
}
