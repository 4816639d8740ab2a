import { threadId } from 'node:worker_threads'
import type { ThreadFunctions } from '../../src/storage/function-thread.ts'
import { serveFunctions } from '../../src/storage/serve-functions.ts'

/** Functions that return the thread's id, throw, exit, wait and hang. */
export const mortalFunctions = {
  who: () => () => threadId,
  fail: () => () => {
    throw new Error('it failed')
  },
  die: () => () => process.exit(1),
  pause: () => (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
  hang: () => () => {
    for (;;);
  },
} as const satisfies ThreadFunctions

serveFunctions(mortalFunctions)
