import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { timeOfBackup } from '../../ledger/events/backup.ts'

/** How a file begins that age encrypted with a passphrase. */
const HEADER = 'age-encryption.org/v1\n-> scrypt '
const PARTIAL = /^\.(?<name>.*)\.partial-\d+$/

async function beginningOf(file: string): Promise<string> {
  const handle = await open(file, 'r')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER.length), 0, HEADER.length, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await handle.close()
  }
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
