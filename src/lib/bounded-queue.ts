/** Thrown when the queue is full. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull'
}

/** Runs jobs first come, first served. Rejects with QueueFull, or as the job does. */
export type BoundedQueue = <T>(job: () => Promise<T>) => Promise<T>

/** At most `atOnce` jobs run concurrently, and at most `maxWaiting` wait. */
export function createBoundedQueue(atOnce: number, maxWaiting: number): BoundedQueue {
  const waiting: (() => void)[] = []
  let running = 0

  return async (job) => {
    if (running < atOnce) {
      running += 1
    } else {
      if (waiting.length >= maxWaiting) throw new QueueFull(`${maxWaiting} jobs are already waiting`)
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
    try {
      return await job()
    } finally {
      // Pass the slot to the next job, or free it.
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
