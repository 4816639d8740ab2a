import { setImmediate } from 'node:timers/promises'

/** Blocks the process at the worst moment: overdue timers fire before the sockets are read. */
export async function holdUp(ms: number): Promise<void> {
  await setImmediate()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
