import { isUtf8 } from 'node:buffer'
import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { markdownFileNames, readRegularFile } from '../lib/markdown-files.ts'
import { type AdaptationWords, adaptationIdSchema } from './adaptation.ts'
import { parseAdaptationFile } from './file-format.ts'

export const ADAPTATIONS_DIRECTORY = 'adaptations'

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
  const names = markdownFileNames(directory)
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
  for (const name of markdownFileNames(directory) ?? [])
    if (idOf(name) === id) rmSync(join(directory, name), { force: true })
}

export const idOf = (file: string) => file.replace(/\.md$/i, '')

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
