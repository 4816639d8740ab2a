import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'

/** Why a directory of that name cannot be one that tasks work in; completes a sentence that begins with its name. */
export const WITHIN_REACH = 'must lie outside the data directory, and must not hold it'

/** Whether neither directory holds the other, nor is it, wherever their names lead. `path` need not exist. */
export function liesOutside(path: string, dataDir: string): boolean {
  const [one, other] = [realPathOf(path), realPathOf(dataDir)]
  return !holds(one, other) && !holds(other, one)
}

/** The real path of what exists of it, and the rest as written. */
function realPathOf(path: string): string {
  if (existsSync(path) || dirname(path) === path) return realpathSync(path)
  return join(realPathOf(dirname(path)), relative(dirname(path), path))
}

function holds(directory: string, path: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way)
}
