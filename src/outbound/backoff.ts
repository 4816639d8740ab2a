const FIRST_RETRY_MS = 2_000
const LONGEST_RETRY_MS = 10 * 60_000

/**
 * How long to wait after the failed attempt of that number, in milliseconds: twice as long each time, spread by a
 * quarter to either side so that what failed together is not tried together. `random` is 0..1. `askedMs` is what the
 * other side asked for, which is kept to within the same bound.
 */
export function retryDelayMs(attempt: number, random: number, askedMs = 0): number {
  const backoffMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (attempt - 1))
  return Math.round(Math.max(backoffMs * (0.75 + random / 2), Math.min(askedMs, LONGEST_RETRY_MS)))
}
