import { constants } from 'node:fs'
import { lstat, open, readdir, realpath, rm } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { adaptationIdSchema } from './adaptation.ts'
import { type FileAdaptation, parseAdaptationFile } from './file-format.ts'

export type SkippedFile = { readonly file: string; readonly reason: string }
export type ReadFiles = {
  /** False if the directory does not exist. */
  readonly exists: boolean
  readonly found: readonly {
    readonly id: string
    readonly file: string
    readonly adaptation: FileAdaptation
  }[]
  readonly skipped: readonly SkippedFile[]
}

const MAX_FILE_BYTES = 128 * 1024
const MAX_FILES = 200

/**
 * Reads the markdown files of a directory, sorted by name. Skips unsuitable files with a reason, for example
 * too large, not UTF-8, not a regular file, or a link out of the directory.
 */
export async function readAdaptationFiles(directory: string): Promise<ReadFiles> {
  const found: { id: string; file: string; adaptation: FileAdaptation }[] = []
  const skipped: SkippedFile[] = []
  const root = await ownDirectory(directory)
  if (root === null) return { exists: false, found, skipped }
  if (root === 'foreign')
    return {
      exists: true,
      found,
      skipped: [{ file: 'adaptations', reason: 'the directory is a symbolic link' }],
    }
  const names = (await readdir(root)).filter((name) => /\.md$/i.test(name) && !name.startsWith('.')).sort()
  for (const [index, file] of names.entries()) {
    const skip = (reason: string) => void skipped.push({ file, reason })
    const id = adaptationIdSchema.safeParse(file.slice(0, -'.md'.length))
    if (index >= MAX_FILES) skip(`there are more than ${MAX_FILES} files`)
    else if (!id.success) skip('the name may contain only letters, digits and . _ : @ -')
    else if (found.some((other) => other.id === id.data)) skip('another file has the same name')
    else {
      const read = await readBounded(root, file)
      const parsed = 'reason' in read ? null : parseAdaptationFile(id.data, read.text)
      if ('reason' in read) skip(read.reason)
      else if (parsed?.ok) found.push({ id: id.data, file, adaptation: parsed.adaptation })
      else if (parsed) skip(parsed.reason)
    }
  }
  return { exists: true, found, skipped }
}

/** Deletes an adaptation's file, if there is one. */
export async function removeAdaptationFile(directory: string, id: string): Promise<void> {
  if (!adaptationIdSchema.safeParse(id).success) return
  const root = await ownDirectory(directory)
  if (root === null || root === 'foreign') return
  const names = (await readdir(root)).filter(
    (name) => name.replace(/\.md$/i, '') === id && /\.md$/i.test(name),
  )
  for (const name of names) await rm(join(root, name), { force: true })
}

/** The directory's real path; `foreign` if it is a symbolic link, which a restored backup might contain. */
async function ownDirectory(directory: string): Promise<string | 'foreign' | null> {
  try {
    const stat = await lstat(directory)
    if (stat.isSymbolicLink()) return 'foreign'
    return stat.isDirectory() ? await realpath(directory) : null
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null
    throw error
  }
}

async function readBounded(
  root: string,
  name: string,
): Promise<{ readonly text: string } | { readonly reason: string }> {
  let real: string
  try {
    real = await realpath(join(root, name))
  } catch {
    return { reason: 'the link is broken' }
  }
  if (!real.startsWith(root + sep)) return { reason: 'the link leads out of the directory' }
  try {
    // Do not follow a link created meanwhile, and do not block on a pipe.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
    const handle = await open(real, flags)
    try {
      const stat = await handle.stat()
      if (!stat.isFile()) return { reason: 'it is not a regular file' }
      if (stat.size > MAX_FILE_BYTES) return { reason: `it is larger than ${MAX_FILE_BYTES / 1024} KiB` }
      const buffer = new Uint8Array(MAX_FILE_BYTES)
      const { bytesRead } = await handle.read(buffer, 0, MAX_FILE_BYTES, 0)
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead)) }
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (error instanceof TypeError) return { reason: 'it is not UTF-8 text' }
    return { reason: 'it cannot be read' }
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
