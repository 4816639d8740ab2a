import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

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

/** Leaves a compressed copy beside each file, once and as well as it can be done: the service has no time for that. */
async function compressAll(directory: string): Promise<void> {
  const { WORTH_COMPRESSING_BYTES } = await import('../src/http/static-files.ts')
  const names = await readdir(directory, { recursive: true })
  await Promise.all(
    names
      .filter((name) => /\.(?:js|css|html|svg|json)$/.test(name))
      .map(async (name) => {
        const file = join(directory, name)
        const content = await readFile(file)
        if (content.length < WORTH_COMPRESSING_BYTES) return
        // Both at their highest level, which is what they do by default.
        await writeFile(`${file}.br`, await promisify(brotliCompress)(content))
        await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }))
      }),
  )
}

/** Ends with a sentence where the service's account does not own the checkout, as behind a service manager. */
function requireWritable(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true })
    accessSync(directory, constants.W_OK)
  } catch {
    process.stderr.write(
      'The pages are missing or older than their sources, and this account may not write web/dist.\n' +
        'Run `npm run build:web` as the account that owns the checkout, then start again.\n',
    )
    process.exit(1)
  }
}

const sourcesMs = Math.max(latestChangeMs(join(root, 'web')), latestChangeMs(join(root, 'package-lock.json')))
const isStale = !existsSync(stamp) || statSync(stamp).mtimeMs < sourcesMs
if (isStale || process.argv.includes('--force')) {
  requireWritable(join(root, 'web/dist'))
  // Loaded only for a build: a start with fresh pages does not need it.
  const { build } = await import('vite')
  await build({ configFile: join(root, 'web/vite.config.ts'), logLevel: 'warn' })
  await compressAll(join(root, 'web/dist'))
  writeFileSync(stamp, '')
}
