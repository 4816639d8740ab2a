import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type DiskCause, diskCauseOf } from '../../ledger/causes.ts'
import { timeOfBackup } from '../../ledger/events/backup.ts'
import { english } from '../language/message.ts'

/** The beginning of a file that age encrypted with a passphrase. */
const HEADER = 'age-encryption.org/v1\n-> scrypt '
const FAULTS: Record<DiskCause, string> = {
  full: english`The disk of the backup directory is full.`,
  read_only: english`The backup directory is read-only.`,
  forbidden: english`The account of the service may not write to the backup directory.`,
  locked: english`The backup directory is in use by another program.`,
  moved: english`The backup directory was moved or deleted.`,
  damaged: english`The disk of the backup directory is damaged.`,
  failing: english`The disk of the backup directory fails, or is not connected.`,
}
const PARTIAL = /^\.(?<name>.*)\.partial-\d+$/

async function beginningOf(file: string): Promise<string> {
  await using handle = await open(file, 'r')
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER.length), 0, HEADER.length, 0)
  return buffer.toString('latin1', 0, bytesRead)
}

/** The names of the backups in a directory: files whose name and header are ours. Empty if there is no directory. */
export async function backupsIn(directory: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const name of await namesIn(directory))
    if (timeOfBackup(name) !== null && (await beginningOf(join(directory, name))) === HEADER) found.add(name)
  return found
}

/** The names of files that a killed job left unfinished, perhaps within the header. */
export async function partialsIn(directory: string): Promise<string[]> {
  const found: string[] = []
  for (const name of await namesIn(directory)) {
    const backup = PARTIAL.exec(name)?.groups?.name ?? ''
    if (timeOfBackup(backup) !== null && HEADER.startsWith(await beginningOf(join(directory, name))))
      found.push(name)
  }
  return found
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** What an error says about the backup directory, as a sentence; null if it does not come from the file system. */
export function faultOfDirectory(error: unknown): string | null {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return null
  if (error.code === 'ENOENT')
    return english`The backup directory does not exist. Connect its disk, or create the directory.`
  const cause = diskCauseOf(error)
  return cause === null ? english`The backup directory cannot be used (${error.code}).` : FAULTS[cause]
}
