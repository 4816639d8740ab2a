import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'vite'
import { APP_PATHS } from '../../src/http/routes/pages.ts'
import { germanOf } from './page-languages.ts'
import { workerTexts } from './texts.ts'

/** What the worker keeps of itself, and what only the service's own pages use. */
const NOT_KEPT = /^(?:worker\.js|waiting\.[^/]*html|\.built)$|\.(?:br|gz)$/
/** What many owners never use, or only once. The worker keeps it from its first use on. */
const LATER =
  /^assets\/(?:render-formula|highlight|operations-page|welcome-page|install-page|talk-bar|dictation|read-aloud|explain-voice|audio-worklet|de|en-XA)-/

/** Builds the service worker into `dist/worker.js`, with the lists of the files that were built before. */
export async function buildWorker(web: string): Promise<void> {
  const dist = join(web, 'dist')
  const files = (await readdir(dist, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dist.length + 1))
    .filter((name) => !NOT_KEPT.test(name))
    .toSorted()
  const entries = await Promise.all(
    files
      .filter((name) => !LATER.test(name))
      .map(async (name) => ({
        url: `/${name}`,
        // Names in assets/ change with the content.
        revision: name.startsWith('assets/') ? null : await digestOf(join(dist, name)),
      })),
  )
  const later = files.filter((name) => LATER.test(name)).map((name) => `/${name}`)
  await build({
    configFile: false,
    root: web,
    logLevel: 'warn',
    publicDir: false,
    define: {
      BUILT_FILES: JSON.stringify(entries),
      APP_PATHS: JSON.stringify(APP_PATHS),
      LATER_FILES: JSON.stringify(later),
      GERMAN_TEXTS: JSON.stringify(germanOf(workerTexts())),
      'process.env.NODE_ENV': '"production"',
    },
    build: {
      outDir: 'dist',
      emptyOutDir: false,
      rolldownOptions: {
        checks: { bundlerTimings: false },
        input: join(web, 'worker/worker.ts'),
        output: { format: 'iife', entryFileNames: 'worker.js' },
      },
    },
  })
}

async function digestOf(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('base64url')
    .slice(0, 22)
}
