import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'web/dist/.built')

/** The latest change among the sources of the browser UI and what it is built with. */
function latestChangeMs(path: string): number {
  if (!existsSync(path)) return 0
  const stats = statSync(path)
  if (!stats.isDirectory()) return stats.mtimeMs
  const names = readdirSync(path).filter((name) => name !== 'dist' && name !== 'node_modules')
  return Math.max(stats.mtimeMs, ...names.map((name) => latestChangeMs(join(path, name))))
}

const sourcesMs = Math.max(latestChangeMs(join(root, 'web')), latestChangeMs(join(root, 'package-lock.json')))
const isStale = !existsSync(stamp) || statSync(stamp).mtimeMs < sourcesMs
if (isStale || process.argv.includes('--force')) {
  await build({ configFile: join(root, 'web/vite.config.ts'), logLevel: 'warn' })
  writeFileSync(stamp, '')
}
