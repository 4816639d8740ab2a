import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

// Each test starts services of several threads. Without a cache, each thread compiles all its modules again.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('node_modules/.cache/delegate-tests', import.meta.url),
)

/** Folders whose tests start the whole service, or a program of ours, as a process or in the test's own. */
const serviceFolders = [
  'adaptations',
  'agent',
  'backups',
  'erasing',
  'halt',
  'hostile',
  'http',
  'imports',
  'lib',
  'metrics',
  'notes',
  'notifications',
  'operations/readiness',
  'outbound',
  'phone',
  'recorded',
  'scripts',
  'settings',
  'sms',
  'tasks',
  'timers',
  'torture',
  'upgrades',
]
const service = serviceFolders.map((folder) => `test/${folder}/**/*.test.ts`)
const browser = ['test/browser/**/*.test.ts']
/** Talks by microphone pass in real time, and patterns are measured, so these run after all others. */
const quiet = ['test/browser/talk*.test.ts', 'test/patterns/**/*.test.ts']

/** Tests start the threads of their services by `test/support/start-thread.ts`. */
const threadsFromBundles: Plugin = {
  name: 'threads-from-bundles',
  enforce: 'pre',
  resolveId(source, importer) {
    const isStartThread = source.endsWith('/start-thread.ts') && importer?.includes('/src/')
    return isStartThread ? fileURLToPath(new URL('test/support/start-thread.ts', import.meta.url)) : null
  },
}

export default defineConfig({
  test: {
    globalSetup: ['test/support/prepare.ts'],
    projects: [
      project('unit', ['test/**/*.test.ts'], [...service, ...browser, ...quiet]),
      project('service', service),
      project('browser', browser, quiet, ['test/browser/browser-path.ts']),
      project('quiet', quiet, [], ['test/browser/browser-path.ts']),
    ],
    tags: [
      {
        name: 'long',
        description:
          'Left out by `npm test`, which must stay short. CONTRIBUTING.md says which tests these are.',
      },
    ],
    // Many tests wait for a process, a socket or a page, so two cores serve six of them at once.
    maxWorkers: 6,
  },
})

function project(name: string, include: string[], exclude: string[] = [], globalSetup: string[] = []) {
  return {
    plugins: [threadsFromBundles],
    test: {
      name,
      include,
      exclude: [...exclude, '**/node_modules/**'],
      globalSetup,
      // Limits for what never ends. They promise nothing of the product, and a slow machine takes many times as long.
      testTimeout: 600_000,
      hookTimeout: 300_000,
      expect: { poll: { timeout: 150_000 } },
      // After the other projects, with two workers, so that audio does not stutter.
      ...(name === 'quiet' && { sequence: { groupOrder: 1 }, maxWorkers: 2 }),
      // A test keeps nothing outside its own directory and service, so the modules of one file serve the next.
      isolate: false,
      // As in `npm start`: with many threads, V8's memory protection keys end a process now and then.
      // Threads that live for a second start with a young generation that needs no collection in it.
      execArgv: ['--no-memory-protection-keys', '--min-semi-space-size=16'],
    },
  }
}
