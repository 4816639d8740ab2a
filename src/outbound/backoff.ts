import { leftOfWait } from '../lib/waits.ts'

export type OutboundPauses = {
  /** Pause after the first failed attempt. Doubles with each further one. */
  readonly firstRetryMs: number
  /** Pauses before each look-up of an unconfirmed message, which may appear in the provider's list late. */
  readonly lookUpAfterMs: readonly number[]
}

export const outboundPauses: OutboundPauses = { firstRetryMs: 2_000, lookUpAfterMs: [0, 1_000, 4_000] }

/** Upper limit of the backoff. */
export const LONGEST_RETRY_MS = 30 * 60_000
/** Upper limit of a pause that the receiver asks for. */
const LONGEST_ASKED_MS = 60 * 60_000
const SPREAD = 0.25
const GIVE_UP_MS = 24 * 60 * 60_000

/** When a text requested at `requestedAt` is given up. ISO 8601 UTC. */
export function giveUpAt(requestedAt: string): string {
  return new Date(Date.parse(requestedAt) + GIVE_UP_MS).toISOString()
}

/**
 * The pause in milliseconds after the given failed attempt: exponential backoff up to half an hour, with 25 %
 * jitter. `random` is 0..1. `askedMs` is the receiver's Retry-After, honoured up to an hour.
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

/** Milliseconds until the next attempt; 0 if it is due. */
export function untilRetryMs(retryAt: string | null, nowMs: number): number {
  return retryAt === null ? 0 : leftOfWait(retryAt, { nowMs, longestMs: LONGEST_ASKED_MS })
}
