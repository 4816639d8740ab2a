import { existsSync, globSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin, type Rolldown } from 'vite'
import type { TestProject } from 'vitest/node'
import { installPostgres } from './install-postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The bundle of each module that threads start from or load, by the module's URL. */
    readonly bundledThreads: Readonly<Record<string, string>>
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const output = join(root, 'node_modules/.cache/delegate-tests/threads')

const POOLED_THREAD = pathToFileURL(join(root, 'test/support/pooled-thread.ts')).href

const inPooledThreads: Plugin = {
  name: 'in-pooled-threads',
  enforce: 'pre',
  resolveId: (source) =>
    source === 'node:worker_threads' || source === 'better-sqlite3'
      ? { id: POOLED_THREAD, external: true }
      : null,
}

/**
 * Installs PostgreSQL, and bundles what the threads of a service load. Hundreds of services start in the tests, and
 * each thread would load about two hundred modules.
 */
export default async function setup(project: TestProject): Promise<void> {
  installPostgres()
  const sources = globSync(['src/storage/thread.ts', 'src/**/*-thread.ts', 'src/**/query-functions.ts'], {
    cwd: root,
    exclude: ['src/lib/start-thread.ts', 'src/storage/function-thread.ts'],
  })
  const entries = new Set(sources.map((source) => join(root, source)))
  const { output: chunks } = (await build({
    root,
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: true, external: ['pg', 'sqlite-vec'] },
    plugins: [inPooledThreads],
    build: {
      ssr: true,
      write: false,
      rolldownOptions: {
        input: Object.fromEntries(sources.map((source) => [source, join(root, source)])),
        output: {
          entryFileNames: '[hash].mjs',
          chunkFileNames: '[hash].mjs',
          // Entry modules run again for each thread of a service, so they stay out of the shared chunk.
          codeSplitting: { groups: [{ name: 'shared', test: (id) => !entries.has(id) }] },
        },
      },
    },
  })) as Rolldown.RolldownOutput
  mkdirSync(output, { recursive: true })
  const bundled: Record<string, string> = {}
  for (const chunk of chunks) {
    if (chunk.type !== 'chunk') continue
    const path = join(output, chunk.fileName)
    write(path, chunk.code)
    if (chunk.isEntry) bundled[pathToFileURL(join(root, chunk.name)).href] = pathToFileURL(path).href
  }
  project.provide('bundledThreads', bundled)
}

/** Named by its content, so another run may be loading it. */
function write(path: string, code: string): void {
  if (existsSync(path)) return
  const unfinished = join(dirname(path), `${process.pid}.tmp`)
  writeFileSync(unfinished, code)
  renameSync(unfinished, path)
}
