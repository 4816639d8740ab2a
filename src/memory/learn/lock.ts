/** Runs one task at a time, in order of arrival. */
export type Lock = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Serialises learning (read, decide, append) and forgetting (bar, erase), so that their steps never
 * interleave.
 */
export function createLock(): Lock {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }
}
