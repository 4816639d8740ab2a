/** More jobs are waiting than the queue takes. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull'
}

/** Runs a job when its turn comes, first come, first served. Rejects with QueueFull, or as the job does. */
export type BoundedQueue = <T>(job: () => Promise<T>) => Promise<T>

/** At most `atOnce` jobs run side by side, and at most `maxWaiting` wait for them. */
export function createBoundedQueue(atOnce: number, maxWaiting: number): BoundedQueue {
  const waiting: (() => void)[] = []
  let running = 0

  return async (job) => {
    if (running < atOnce) {
      running += 1
    } else {
      if (waiting.length >= maxWaiting) throw new QueueFull(`${maxWaiting} jobs are waiting already`)
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
    try {
      return await job()
    } finally {
      // The place goes straight to the next in line, or is given back.
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
