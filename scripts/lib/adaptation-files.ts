import { hash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { syncDirectory } from '../../ledger/files.ts'
import { ADAPTATIONS_DIRECTORY, adaptationFileNames, readRegularFile } from '../../src/adaptations/files.ts'
import { Refused } from './command.ts'

/** A copied file, with its SHA-256 digest in hexadecimal. */
export type CopiedFile = { readonly file: string; readonly digest: string }

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
  for (const file of adaptationFileNames(source) ?? []) {
    const bytes = await readRegularFile(join(source, file))
    if (bytes === null) continue
    if (copied.length === 0) mkdirSync(target, { mode: 0o700 })
    writeFileSync(join(target, file), bytes, { flag: 'wx', mode: 0o600, flush: true })
    copied.push({ file, digest: hash('sha256', bytes) })
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
