import { execFileSync, spawnSync } from 'node:child_process'

/** Whether a program is installed. Says so if it is not, because its tests are skipped then. */
export function hasProgram(name: string): boolean {
  const isInstalled = spawnSync(name, ['--version']).error === undefined
  if (!isInstalled) process.emitWarning(`${name} is not installed: tests that need it are skipped.`)
  return isInstalled
}

/** The output of a program. */
export function outputOf(name: string, args: readonly string[], input?: Uint8Array): Buffer {
  return execFileSync(name, args, { input, maxBuffer: 64 * 1024 * 1024, stdio: ['pipe', 'pipe', 'ignore'] })
}
