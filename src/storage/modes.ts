import { chmodSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

const RIGHTS_OF_OTHERS = 0o077
const RIGHTS_OF_OWNER = 0o700

/**
 * Removes group and other permissions from the data directory and its direct entries, which a copy by hand
 * may have left open. Skips symbolic links. Returns the paths that were changed and those that could not be.
 * Throws only if the directory cannot be read.
 */
export function tightenModes(
  directory: string,
  chmod = chmodSync,
): { readonly tightened: readonly string[]; readonly refused: readonly string[] } {
  const tightened: string[] = []
  const refused: string[] = []
  const real = realpathSync(directory)
  for (const path of [real, ...readdirSync(real).map((name) => join(real, name))]) {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    const isOpen = stats !== undefined && (stats.mode & RIGHTS_OF_OTHERS) !== 0
    if (!isOpen || stats.isSymbolicLink()) continue
    try {
      chmod(path, stats.mode & RIGHTS_OF_OWNER)
      tightened.push(path)
    } catch {
      refused.push(path)
    }
  }
  return { tightened, refused }
}
