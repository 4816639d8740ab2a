import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '../../ledger/files.ts'
import { ADAPTATIONS_DIRECTORY } from '../../src/adaptations/adaptations.ts'
import { Refused } from './command.ts'

/** A copied file, with its SHA-256 digest in hexadecimal. */
export type CopiedFile = { readonly file: string; readonly digest: string }

/** Names of files in the directory itself, so that none leads out of it. */
export const adaptationFilePattern = /^(?!\.)[^/\\\0]+\.md$/i

/**
 * Copies the owner's markdown files, sorted by name, including those that the service would skip. Leaves out
 * links, directories, other kinds of files, and files deleted meanwhile. Creates no directory if there is
 * nothing to copy.
 */
export async function copyAdaptationFiles(
  fromDirectory: string,
  toDirectory: string,
): Promise<readonly CopiedFile[]> {
  const source = join(fromDirectory, ADAPTATIONS_DIRECTORY)
  const target = join(toDirectory, ADAPTATIONS_DIRECTORY)
  const copied: CopiedFile[] = []
  for (const file of await namesIn(source)) {
    const bytes = await readRegular(join(source, file))
    if (bytes === null) continue
    if (copied.length === 0) await mkdir(target, { mode: 0o700 })
    const handle = await open(join(target, file), 'wx', 0o600)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    copied.push({ file, digest: createHash('sha256').update(bytes).digest('hex') })
  }
  if (copied.length > 0) syncDirectory(target)
  return copied
}

/** Throws Refused if the copied files are not the expected ones. */
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

/** The service does not read a linked directory either. */
async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    if (!(await lstat(directory)).isDirectory()) return []
    const entries = await readdir(directory, { withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile() && adaptationFilePattern.test(entry.name))
      .map(({ name }) => name)
      .sort()
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
}

async function readRegular(file: string): Promise<Buffer | null> {
  try {
    // Neither follows a link that replaced the file meanwhile, nor waits for the writer of a pipe.
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      return (await handle.stat()).isFile() ? await handle.readFile() : null
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (isGone(error)) return null
    throw error
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ELOOP')
}
