import { closeSync, openSync, readSync } from 'node:fs'

/**
 * A clock that stands still while the main thread waits for a processor: `now()` in milliseconds. The kernel tells
 * exactly how long it waited (`run_delay` of schedstat); the time that it ran is rounded to ticks of some
 * milliseconds, so `threadCpuUsage` cannot tell what a few milliseconds are. Elsewhere than on Linux it is the wall's.
 */
function openRunClock(): { now(): number; close(): void } {
  if (process.platform !== 'linux') return { now: () => performance.now(), close: () => undefined }
  const descriptor = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
  const buffer = Buffer.alloc(96)
  return {
    now() {
      const length = readSync(descriptor, buffer, 0, buffer.length, 0)
      const [, waitedNs] = buffer.toString('latin1', 0, length).split(' ')
      return performance.now() - Number(waitedNs) / 1e6
    },
    close: () => closeSync(descriptor),
  }
}

/** The longest that one turn of the event loop held the main thread while `work` ran, in milliseconds. */
export async function longestHold(work: () => Promise<unknown>): Promise<number> {
  const clock = openRunClock()
  let longestMs = 0
  let isOver = false
  let before = clock.now()
  const ended = Promise.withResolvers<void>()
  const sample = () => {
    longestMs = Math.max(longestMs, clock.now() - before)
    before = clock.now()
    if (isOver) ended.resolve()
    else setImmediate(sample)
  }
  setImmediate(sample)
  try {
    await work()
  } finally {
    isOver = true
    await ended.promise
    clock.close()
  }
  return longestMs
}
