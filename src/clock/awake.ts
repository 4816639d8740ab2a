/** How finely the time is watched: a stall counts as one of so many parts of the wait. */
const PARTS = 8

/**
 * Calls back once after `ms` in which this process was running, unless cancelled by the returned function. However
 * long the process itself is held up (a busy machine, a sleeping one), that counts as an eighth of the wait at most:
 * an answer that lies in the socket by then is read before anybody is said to have been silent. Never early, and a
 * few milliseconds late at most where nothing holds it up. Keeps no process alive.
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
 * A steady clock that goes by at most `maxStepMs` between two readings, so that what nobody could do while the
 * process was held up is not taken for silence. Whoever uses it reads it more often than that.
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
