import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '../../ledger/files.ts'
import { ADAPTATIONS_DIRECTORY } from '../../src/adaptations/adaptations.ts'
import { Refused } from './command.ts'

/** A file as it was copied. The digest is SHA-256 in hexadecimal. */
export type CopiedFile = { readonly file: string; readonly digest: string }

/** Names that are one file of the directory, and never a way out of it. */
export const adaptationFilePattern = /^(?!\.)[^/\\\0]+\.md$/i

/**
 * Copies the owner's markdown files of a data directory, in the order of their names; those too that the service
 * would skip, for they are the owner's words all the same. Links, directories and files of other kinds stay behind:
 * a link may lead anywhere, and the service reads nothing else. Makes no directory where there is nothing to copy.
 * What was taken away meanwhile is left out.
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

/** Throws Refused where what was copied is not what was to be. */
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

/** A directory that is a link is nobody's words: the service does not read it either. */
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
    // Without following a link that took its place meanwhile, and without waiting for a pipe's other end.
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
