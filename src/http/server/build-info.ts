import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'

export type BuildInfo = {
  readonly name: string
  readonly version: string
  /** Null outside a git checkout. */
  readonly commit: string | null
  /** When the web app was built; null before the first build. */
  readonly builtAt: string | null
  readonly node: string
}

const packageSchema = z.object({ name: z.string(), version: z.string() })

/** Reads the version, commit and build time from the project directory. */
export async function readBuildInfo(directory: string): Promise<BuildInfo> {
  const [manifest, commit, built] = await Promise.all([
    readFile(join(directory, 'package.json'), 'utf8'),
    readCommit(join(directory, '.git')),
    stat(join(directory, 'web/dist/index.html')).catch(absentAsNull),
  ])
  return {
    ...packageSchema.parse(JSON.parse(manifest)),
    commit,
    builtAt: built?.mtime.toISOString() ?? null,
    node: process.version,
  }
}

/** The commit that HEAD points to (gitrepository-layout(5)). */
async function readCommit(gitDirectory: string): Promise<string | null> {
  const head = await readText(join(gitDirectory, 'HEAD'))
  const reference = head?.match(/^ref: (refs\/[\w./-]+)/)?.[1]
  if (!reference) return commitIn(head)
  const loose = commitIn(await readText(join(gitDirectory, reference)))
  if (loose) return loose
  const packed = await readText(join(gitDirectory, 'packed-refs'))
  return commitIn(packed?.split('\n').find((line) => line.endsWith(` ${reference}`)) ?? null)
}

function commitIn(text: string | null): string | null {
  return text?.match(/^[0-9a-f]{40}/)?.[0] ?? null
}

function readText(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(absentAsNull)
}

function absentAsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
  throw error
}
