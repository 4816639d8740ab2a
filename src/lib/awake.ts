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
