/** Runs one piece of work at a time, in the order in which they were asked for. */
export type Lock = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Learning reads what is known, decides and appends; forgetting bars and erases. Neither may come between the
 * other's steps.
 */
export function createLock(): Lock {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }
}
