import { chmodSync, lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs'
import { join } from 'node:path'

const RIGHTS_OF_OTHERS = 0o077
const RIGHTS_OF_OWNER = 0o700

/** The real paths of the data directory and its direct entries that other accounts may access, without links. */
export const openToOthers = (directory: string): string[] =>
  pathsIn(directory, ({ mode }) => (mode & RIGHTS_OF_OTHERS) !== 0)

/** The account that needs the data directory: that of this process, or for root, whose directory it is. */
export const accountOf = (directory: string): number | undefined =>
  process.getuid?.() || lstatSync(realpathSync(directory)).uid

/** The same for what belongs to another account than the one that needs it, which may not open it. */
export const ownedByOthers = (directory: string): string[] => {
  const account = accountOf(directory)
  // A file system that is mounted here has lost+found, for root.
  return pathsIn(directory, ({ uid }) => uid !== account).filter((path) => !path.endsWith('/lost+found'))
}

function pathsIn(directory: string, isMeant: (stats: Stats) => boolean): string[] {
  const real = realpathSync(directory)
  return [real, ...readdirSync(real).map((name) => join(real, name))].filter((path) => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    return stats !== undefined && !stats.isSymbolicLink() && isMeant(stats)
  })
}

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
  for (const path of openToOthers(directory)) {
    try {
      chmod(path, lstatSync(path).mode & RIGHTS_OF_OWNER)
      tightened.push(path)
    } catch {
      refused.push(path)
    }
  }
  return { tightened, refused }
}
