import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// Each test starts services of several threads: without a cache, each thread of each compiles all its modules anew.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('node_modules/.cache/delegate-tests', import.meta.url),
)

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/torture/long/**', '**/node_modules/**'],
    // For what would never end: no promise of the service's, and a slow machine takes many times as long as a fast one.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // What is waited for comes in its time; the default of a second is a fast machine's.
    expect: { poll: { timeout: 60_000 } },
    // Tests start real services, threads and browsers: more at once than cores only makes each slower.
    maxWorkers: 2,
    // A test keeps nothing outside its own directory and its own service, so the modules of one file serve the next:
    // to load them anew for each costs more than a fast file's tests.
    isolate: false,
    // As `npm start` does: V8's accounts of code pages by memory keys end a process with many threads now and then.
    execArgv: ['--no-memory-protection-keys'],
  },
})
