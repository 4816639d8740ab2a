import { closeSync, openSync, readSync } from 'node:fs'

/**
 * A clock that goes while the calling thread runs, and stands still while it waits for a processor, be it another
 * thread's turn or another machine's on the same host (a paravirtual kernel does not count stolen time as run):
 * `now()` in milliseconds. The kernel rounds what `threadCpuUsage` tells to ticks of some milliseconds; asked for the
 * whole process it brings the exact sum of the calling thread up to date first, which schedstat then tells (Linux,
 * kernel/sched/cputime.c, thread_group_cputime). Elsewhere than on Linux it is the wall's.
 */
function openRunClock(): { now(): number; close(): void } {
  if (process.platform !== 'linux') return { now: () => performance.now(), close: () => undefined }
  const descriptor = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
  const buffer = Buffer.alloc(96)
  return {
    now() {
      process.cpuUsage()
      const length = readSync(descriptor, buffer, 0, buffer.length, 0)
      return Number(buffer.toString('latin1', 0, length).split(' ')[0]) / 1e6
    },
    close: () => closeSync(descriptor),
  }
}

/** The longest that the main thread ran in one turn of the event loop while `work` went on, in milliseconds. */
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
