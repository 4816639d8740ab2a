import { isUtf8 } from 'node:buffer'
import { constants, lstatSync, readdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type AdaptationWords, adaptationIdSchema } from './adaptation.ts'
import { parseAdaptationFile } from './file-format.ts'

export const ADAPTATIONS_DIRECTORY = 'adaptations'

/** Names of files in the directory itself, so that none leads out of it. */
export const adaptationFilePattern = /^(?!\.)[^/\\\0]+\.md$/i

export type SkippedFile = { readonly file: string; readonly reason: string }
export type ReadFiles = {
  /** Whether there is a directory; a link to one does not count. */
  readonly exists: boolean
  readonly found: readonly {
    readonly id: string
    readonly file: string
    readonly adaptation: AdaptationWords
  }[]
  readonly skipped: readonly SkippedFile[]
}

const MAX_FILE_BYTES = 128 * 1024
const MAX_FILES = 200

/**
 * Reads the markdown files of a directory, sorted by name. Skips unsuitable files with a reason, for example
 * too large, not UTF-8, or a link.
 */
export async function readAdaptationFiles(directory: string): Promise<ReadFiles> {
  const found: { id: string; file: string; adaptation: AdaptationWords }[] = []
  const skipped: SkippedFile[] = []
  const names = adaptationFileNames(directory)
  if (names === null && lstatSync(directory, { throwIfNoEntry: false }))
    skipped.push({ file: ADAPTATIONS_DIRECTORY, reason: 'it is not a directory' })
  for (const [index, file] of (names ?? []).entries()) {
    const skip = (reason: string) => void skipped.push({ file, reason })
    const id = adaptationIdSchema.safeParse(idOf(file))
    if (index >= MAX_FILES) skip(`there are more than ${MAX_FILES} files`)
    else if (!id.success) skip('the name may contain only letters, digits and . _ : @ -')
    else if (found.some((other) => other.id === id.data)) skip('another file has the same name')
    else {
      const read = await readText(join(directory, file))
      const parsed =
        'text' in read ? parseAdaptationFile(id.data, read.text) : { ok: false as const, ...read }
      if (parsed.ok) found.push({ id: id.data, file, adaptation: parsed.adaptation })
      else skip(parsed.reason)
    }
  }
  return { exists: names !== null, found, skipped }
}

/** Deletes an adaptation's file, if there is one. */
export function removeAdaptationFile(directory: string, id: string): void {
  for (const name of adaptationFileNames(directory) ?? [])
    if (idOf(name) === id) rmSync(join(directory, name), { force: true })
}

export const idOf = (file: string) => file.replace(/\.md$/i, '')

/** Sorted; null if there is no directory. A link to one does not count. */
export function adaptationFileNames(directory: string): string[] | null {
  if (!lstatSync(directory, { throwIfNoEntry: false })?.isDirectory()) return null
  return readdirSync(directory)
    .filter((name) => adaptationFilePattern.test(name))
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

async function readText(file: string): Promise<{ readonly text: string } | { readonly reason: string }> {
  try {
    const bytes = await readRegularFile(file, MAX_FILE_BYTES)
    if (bytes === null) return { reason: 'it is not a regular file' }
    if (bytes.length > MAX_FILE_BYTES) return { reason: `it is larger than ${MAX_FILE_BYTES / 1024} KiB` }
    return isUtf8(bytes) ? { text: bytes.toString() } : { reason: 'it is not UTF-8 text' }
  } catch {
    return { reason: 'it cannot be read' }
  }
}
