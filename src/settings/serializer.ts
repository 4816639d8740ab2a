/** Runs a job after all that were given before it have settled, so that none sees another half done. */
export type Serializer = <T>(job: () => Promise<T>) => Promise<T>

export function createSerializer(): Serializer {
  let last: Promise<unknown> = Promise.resolve()
  return (job) => {
    const result = last.then(job)
    // The next in line waits for the end of this one, whatever it was; its caller hears of a failure.
    last = result.catch(() => undefined)
    return result
  }
}
