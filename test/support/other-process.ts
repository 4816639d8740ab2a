import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from './writer.ts'

const root = join(import.meta.dirname, '../..')

/** Runs TypeScript in another process, with imports relative to the project's root; returns its output. */
export function inOtherProcess(source: string, environment: Record<string, string> = {}): string {
  // A file, because worker threads do not start in a process whose program is on the command line.
  const file = join(root, '.tmp', `${newId()}.ts`)
  mkdirSync(join(root, '.tmp'), { recursive: true })
  writeFileSync(file, source.replaceAll("from './", "from '../"))
  try {
    const { stdout, stderr, status } = spawnSync(process.execPath, [file], {
      encoding: 'utf8',
      env: { ...process.env, ...environment },
    })
    if (status !== 0) throw new Error(`the process ended with ${status}: ${stderr}`)
    return stdout.trim()
  } finally {
    rmSync(file)
  }
}
