import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'web/dist/.built')

/** The latest modification time of a file or of anything in a directory. */
function latestChangeMs(path: string): number {
  if (!existsSync(path)) return 0
  const stats = statSync(path)
  if (!stats.isDirectory()) return stats.mtimeMs
  const names = readdirSync(path).filter((name) => name !== 'dist' && name !== 'node_modules')
  return Math.max(stats.mtimeMs, ...names.map((name) => latestChangeMs(join(path, name))))
}

/** Smaller files fit into one packet uncompressed. */
const WORTH_COMPRESSING_BYTES = 1_400

/** Writes compressed copies beside each file, at the highest level, which is too slow for a request. */
async function compressAll(directory: string): Promise<void> {
  const names = await readdir(directory, { recursive: true })
  await Promise.all(
    names
      .filter((name) => /\.(?:js|css|html|svg|json|webmanifest)$/.test(name))
      .map(async (name) => {
        const file = join(directory, name)
        const content = await readFile(file)
        if (content.length < WORTH_COMPRESSING_BYTES) return
        // Brotli's default is its highest level.
        await writeFile(`${file}.br`, await promisify(brotliCompress)(content))
        await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }))
      }),
  )
}

/** Exits with instructions if this account cannot write the checkout, as under a service manager. */
function requireWritable(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true })
    accessSync(directory, constants.W_OK)
  } catch {
    process.stderr.write(
      'The pages are missing or out of date, and this account cannot write web/dist.\n' +
        'Run `npm run build:web` as the account that owns the checkout, then start again.\n',
    )
    process.exit(1)
  }
}

/** An npm on an older Node leaves out the native part of Vite, without an error. */
function refuseWithoutVite(error: unknown): never {
  process.stderr.write(
    `The pages cannot be built, because Vite is not complete (${error instanceof Error ? error.message.split('. ')[0] : error}).\n` +
      'Run `npm ci --ignore-scripts` with an npm on Node 20.19 or newer, without --omit=dev. Or install a package, which ' +
      'contains the pages: see docs/operator-guide.md.\n',
  )
  process.exit(1)
}

const sources = ['web', 'src/text', 'src/language', 'package-lock.json'].map((path) => join(root, path))
const sourcesMs = Math.max(...sources.map(latestChangeMs))
const isStale = !existsSync(stamp) || statSync(stamp).mtimeMs < sourcesMs
if (isStale || process.argv.includes('--force')) {
  requireWritable(join(root, 'web/dist'))
  // Loaded only for a build.
  const { build } = await import('vite').catch(refuseWithoutVite)
  await build({ configFile: join(root, 'web/vite.config.ts'), logLevel: 'warn' })
  const { buildWorker } = await import('./lib/build-worker.ts')
  await buildWorker(join(root, 'web'))
  await compressAll(join(root, 'web/dist'))
  writeFileSync(stamp, '')
}
