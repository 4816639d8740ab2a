import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as z from 'zod'
import type { BuildInfo } from '../contract/health.ts'
import { loadWebApp } from './static-files.ts'

const packageSchema = z.object({ name: z.string(), version: z.string() })

const PROJECT_DIRECTORY = fileURLToPath(new URL('../../..', import.meta.url))

/** Reads what a service is built from. */
export const readBuild = async () => ({
  buildInfo: await readBuildInfo(),
  staticFiles: await loadWebApp(),
})

/** Reads the version, commit and build time from the project directory. */
export async function readBuildInfo(directory = PROJECT_DIRECTORY): Promise<BuildInfo> {
  const [manifest, commit, built] = await Promise.all([
    readFile(join(directory, 'package.json'), 'utf8'),
    readCommit(join(directory, '.git')),
    stat(join(directory, 'web/dist/index.html')).catch(() => null),
  ])
  return {
    ...packageSchema.parse(JSON.parse(manifest)),
    commit,
    builtAt: built?.mtime.toISOString() ?? null,
    node: process.version,
  }
}

/** The commit of the checkout; null outside of one, or without git. */
async function readCommit(gitDirectory: string): Promise<string | null> {
  const git = promisify(execFile)('git', ['--git-dir', gitDirectory, 'rev-parse', 'HEAD'])
  return git.then(
    ({ stdout }) => stdout.trim(),
    () => null,
  )
}
