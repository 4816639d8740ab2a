import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs `work` in an empty directory on disk. Removes the directory unless `work` fails. */
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
    throw new Error(`failed; its files are in ${directory}`, { cause })
  }
}

/** A memory file system if there is one, for trials that simulate their disk or need no syncs. */
export const IN_MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
