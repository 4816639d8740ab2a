/** A clock that moves only when told to, so that times are round and repeatable. */
export type Clock = {
  readonly nowMs: () => number
  pass(ms: number): void
  goTo(at: string): void
}

export function createClock(at: string): Clock {
  let nowMs = Date.parse(at)
  return {
    nowMs: () => nowMs,
    pass(ms) {
      nowMs += ms
    },
    goTo(later) {
      const laterMs = Date.parse(later)
      if (laterMs < nowMs) throw new Error(`${later} is in the past: it is ${new Date(nowMs).toISOString()}`)
      nowMs = laterMs
    },
  }
}
