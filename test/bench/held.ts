import { closeSync, openSync, readSync } from 'node:fs'

/**
 * A clock, in milliseconds, that runs only while the calling thread does; wall time on systems other than
 * Linux. `threadCpuUsage` is rounded to ticks, but `cpuUsage` makes the kernel update schedstat to the exact
 * sum (Linux, kernel/sched/cputime.c, thread_group_cputime).
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

/** The longest turn of the event loop during `work`, in milliseconds of the main thread's own time. */
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
