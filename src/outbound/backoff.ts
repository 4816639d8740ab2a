import { leftOfWait } from '../clock/waits.ts'

/** How long what goes out waits where it fails, in milliseconds. */
export type OutboundPauses = {
  /** After the first failed attempt; twice as long after each further one. */
  readonly firstRetryMs: number
  /** Before each look for what the provider may have taken: it may show up in its list only after a moment. */
  readonly lookUpAfterMs: readonly number[]
}

export const outboundPauses: OutboundPauses = { firstRetryMs: 2_000, lookUpAfterMs: [0, 1_000, 4_000] }

const LONGEST_RETRY_MS = 10 * 60_000
const SPREAD = 0.25

/**
 * How long to wait after the failed attempt of that number, in milliseconds: twice as long each time, spread by a
 * quarter to either side so that what failed together is not tried together. `random` is 0..1. `askedMs` is what the
 * other side asked for, which is kept to within the same bound.
 */
export function retryDelayMs(
  { firstRetryMs }: OutboundPauses,
  attempt: number,
  random: number,
  askedMs = 0,
): number {
  const backoffMs = Math.min(LONGEST_RETRY_MS, firstRetryMs * 2 ** (attempt - 1))
  return Math.round(
    Math.max(backoffMs * (1 - SPREAD + 2 * SPREAD * random), Math.min(askedMs, LONGEST_RETRY_MS)),
  )
}

/** How long what failed still waits for its next attempt, in milliseconds; 0 where it is due. */
export function untilRetryMs(retryAt: string | null, nowMs: number): number {
  return retryAt === null ? 0 : leftOfWait(retryAt, { nowMs, longestMs: LONGEST_RETRY_MS * (1 + SPREAD) })
}
