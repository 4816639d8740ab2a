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

/** Numbers from 0 to 1 that repeat in each run (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
