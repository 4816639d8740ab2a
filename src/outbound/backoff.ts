import { leftOfWait } from '../clock/waits.ts'

/** How long what goes out waits where it fails, in milliseconds. */
export type OutboundPauses = {
  /** After the first failed attempt; twice as long after each further one. */
  readonly firstRetryMs: number
  /** Before each look for what the provider may have taken: it may show up in its list only after a moment. */
  readonly lookUpAfterMs: readonly number[]
}

export const outboundPauses: OutboundPauses = { firstRetryMs: 2_000, lookUpAfterMs: [0, 1_000, 4_000] }

/** The longest pause of our own. */
export const LONGEST_RETRY_MS = 30 * 60_000
/** The longest pause that the other side may ask for. */
const LONGEST_ASKED_MS = 60 * 60_000
const SPREAD = 0.25
const GIVE_UP_MS = 24 * 60 * 60_000

/** When a text that was asked for at `requestedAt` is given up; ISO 8601 UTC. */
export function giveUpAt(requestedAt: string): string {
  return new Date(Date.parse(requestedAt) + GIVE_UP_MS).toISOString()
}

/**
 * How long to wait after the failed attempt of that number, in milliseconds: twice as long each time up to half an
 * hour, spread by a quarter to either side so that what failed together is not tried together. `random` is 0..1.
 * `askedMs` is what the other side asked for (Retry-After); an hour of it is granted.
 */
export function retryDelayMs(
  { firstRetryMs }: OutboundPauses,
  attempt: number,
  random: number,
  askedMs = 0,
): number {
  const backoffMs = Math.min(LONGEST_RETRY_MS, firstRetryMs * 2 ** (attempt - 1))
  return Math.round(
    Math.max(backoffMs * (1 - SPREAD + 2 * SPREAD * random), Math.min(askedMs, LONGEST_ASKED_MS)),
  )
}

/** How long what failed still waits for its next attempt, in milliseconds; 0 where it is due. */
export function untilRetryMs(retryAt: string | null, nowMs: number): number {
  return retryAt === null ? 0 : leftOfWait(retryAt, { nowMs, longestMs: LONGEST_ASKED_MS })
}
