/** A wait is split into this many timers, so a stall of the process delays only one. */
const PARTS = 8

/** Calls back once after `ms` of time in which the process was running. Returns a cancel function. */
function afterAwake(ms: number, callback: () => void): () => void {
  let left = PARTS
  let timer = wait()
  function wait(): NodeJS.Timeout {
    return setTimeout(next, Math.ceil(ms / PARTS)).unref()
  }
  function next(): void {
    left -= 1
    if (left === 0) callback()
    else timer = wait()
  }
  return () => clearTimeout(timer)
}

/** The result of a promise. Rejects after `ms`, not counting pauses of this process. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const cancel = afterAwake(ms, () => late.reject(new Error(`no result within ${ms} ms`)))
  try {
    return await Promise.race([work, late.promise])
  } finally {
    cancel()
  }
}
