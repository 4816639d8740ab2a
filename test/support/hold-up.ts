import { setImmediate } from 'node:timers/promises'

/**
 * Holds up the whole process for so long, as a busy machine or a sleeping one does; where it hurts: overdue timers
 * come before anything is read from the sockets.
 */
export async function holdUp(ms: number): Promise<void> {
  await setImmediate()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
