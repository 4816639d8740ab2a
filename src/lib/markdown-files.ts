import { constants, lstatSync, readdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'

/** Names of markdown files in a directory itself, so that none leads out of it. */
export const markdownFilePattern = /^(?!\.)[^/\\\0]+\.md$/i

/** Sorted; null if there is no directory. A link to one does not count. */
export function markdownFileNames(directory: string): string[] | null {
  if (!lstatSync(directory, { throwIfNoEntry: false })?.isDirectory()) return null
  return readdirSync(directory)
    .filter((name) => markdownFilePattern.test(name))
    .sort()
}

/**
 * Null for a link, a directory, another kind of file, and a file deleted meanwhile. Of a file longer than
 * `maxBytes` it reads one byte more.
 */
export async function readRegularFile(
  file: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Buffer | null> {
  try {
    // Neither follows a link, nor waits for the writer of a pipe.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    if (!(await handle.stat()).isFile()) return null
    return await buffer(handle.createReadStream({ end: maxBytes, autoClose: false }))
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ELOOP'))
      return null
    throw error
  }
}
