import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createServer } from 'vite'

/**
 * `npm run dev`: restarts the service when its sources change, and serves the pages with hot reload. Takes the
 * same variables as `npm start`, and enables the development routes unless `DEV_ROUTES` is set. Open the address that
 * Vite prints.
 */
const root = join(import.meta.dirname, '..')
const watched = ['ledger', 'projections', 'src'].map((folder) => `--watch-path=${join(root, folder)}`)
const service = spawn(
  process.execPath,
  ['--watch-preserve-output', ...watched, '--no-memory-protection-keys', join(root, 'src/main.ts')],
  {
    stdio: 'inherit',
    env: { DEV_ROUTES: '1', NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/delegate'), ...process.env },
  },
)
const pages = await createServer({ configFile: join(root, 'web/vite.config.ts') })
await pages.listen()
pages.printUrls()

service.once('exit', (code) => void pages.close().then(() => process.exit(code ?? 0)))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => service.kill(signal))
