/** A wait is split into this many timers, so a stall of the process delays only one. */
const PARTS = 8

/**
 * Calls back once after `ms` of time in which the process was running. Returns a cancel function. A stall of
 * any length (a busy or sleeping machine) counts as an eighth of the wait at most, so data that arrived
 * meanwhile is read before a timeout fires. Does not keep the process alive.
 */
export function afterAwake(ms: number, callback: () => void): () => void {
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

/**
 * A steady clock that advances at most `maxStepMs` between two readings, so a stall of the process does not
 * count as silence. Read it more often than that.
 */
export function createAwakeClock(nowMs: () => number, maxStepMs: number): () => number {
  let lastMs = nowMs()
  let awakeMs = lastMs
  return () => {
    const now = nowMs()
    awakeMs += Math.min(maxStepMs, Math.max(0, now - lastMs))
    lastMs = now
    return awakeMs
  }
}

/**
 * Milliseconds until a stored deadline, 0 once it has passed. Also 0 if more than `longestMs` remains: the
 * clock was ahead when the deadline was set.
 */
export function leftOfWait(
  until: string | number,
  { nowMs, longestMs }: { readonly nowMs: number; readonly longestMs: number },
): number {
  const leftMs = (typeof until === 'number' ? until : Date.parse(until)) - nowMs
  return leftMs > longestMs ? 0 : Math.max(0, leftMs)
}

/** The delay in ms from `retry-after-ms` or Retry-After (RFC 9110, 10.2.3); null if neither is valid. */
export function parseRetryAfter(headers: Pick<Headers, 'get'>, nowMs: number): number | null {
  const fine = headers.get('retry-after-ms')
  if (fine !== null && /^\d+(?:\.\d+)?$/.test(fine)) return Math.ceil(Number(fine))
  const value = headers.get('retry-after')?.trim()
  if (!value) return null
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000)
  // Date.parse accepts much that is not an HTTP date, such as "-1".
  const date = value.endsWith('GMT') ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs)
}

/** What the promise resolves to within `ms`; null if it takes longer. */
export async function resultWithin<T>(ms: number, work: Promise<T>): Promise<T | null> {
  const late = Promise.withResolvers<null>()
  const timer = setTimeout(() => late.resolve(null), ms)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether the promise resolves within `ms`. */
export async function isWithin(ms: number, done: Promise<unknown>): Promise<boolean> {
  const resolved = done.then(() => true)
  return (await resultWithin(ms, resolved)) ?? false
}

/** Rejects with the signal's reason as soon as it aborts, even if the work ignores the signal. */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
