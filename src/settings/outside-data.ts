import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { english } from '../language/message.ts'

/** Why tasks cannot work in a directory; completes a sentence that begins with its name. */
export const WITHIN_REACH = english`must be outside the data directory and must not contain it`

/** Why backups cannot be in a directory; completes a sentence that begins with its name. */
export const WITHIN_SERVICE = english`must be outside the data directory and the program, and must not contain them`

const PROGRAM = fileURLToPath(new URL('../..', import.meta.url))

/** Whether a directory has nothing to do with the data and the program. */
export function isOutsideService(path: string, dataDir: string): boolean {
  return liesOutside(path, dataDir) && liesOutside(path, PROGRAM)
}

/** Whether neither directory is or contains the other, once links are resolved. `path` need not exist. */
export function liesOutside(path: string, dataDir: string): boolean {
  const [one, other] = [realPathOf(path), realPathOf(dataDir)]
  return !contains(one, other) && !contains(other, one)
}

/** Resolves the part of the path that exists; the rest stays as written. */
function realPathOf(path: string): string {
  if (existsSync(path) || dirname(path) === path) return realpathSync(path)
  return join(realPathOf(dirname(path)), relative(dirname(path), path))
}

function contains(directory: string, path: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way)
}
