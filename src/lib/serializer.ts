/** Runs jobs one at a time, in order. */
export type Serializer = <T>(job: () => Promise<T>) => Promise<T>

export function createSerializer(): Serializer {
  let last: Promise<unknown> = Promise.resolve()
  return (job) => {
    const result = last.then(job)
    // A failed job must not stop the next one. Its caller gets the rejection.
    last = result.catch(() => undefined)
    return result
  }
}
