import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Gives `work` an empty directory on disk, and takes it away afterwards, unless `work` fails: then it is evidence. */
export async function inTemporaryDirectory<T>(
  work: (directory: string) => T | Promise<T>,
  root = tmpdir(),
): Promise<T> {
  const directory = mkdtempSync(join(root, 'delegate-torture-'))
  try {
    const result = await work(directory)
    rmSync(directory, { recursive: true, force: true })
    return result
  } catch (cause) {
    throw new Error(`failed; what it left is in ${directory}`, { cause })
  }
}

/** Memory where there is a file system in it: for trials that make up their own disk, or none of whose syncs matter. */
export const IN_MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
