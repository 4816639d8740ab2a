import { setTimeout as delay } from 'node:timers/promises'
import { afterAwake } from '../../lib/waits.ts'
import { FIRST_EVENT_SECONDS } from './defaults.ts'

/** Clocks and randomness of the adapter, injected so that tests control them. */
export type Timing = {
  /** Wall clock in ms since the epoch, for HTTP dates and expiry. */
  nowMs(): number
  /** Resolves after `ms`; rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
  /** Calls back once after `ms` in which the process was running. Returns a cancel function. */
  after(ms: number, callback: () => void): () => void
  /** Uniform in [0, 1). */
  random(): number
}

/** The real clock. Its timers do not keep the process alive. */
export const systemTiming: Timing = {
  nowMs: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, { signal }),
  after: afterAwake,
  random: Math.random,
}

/** Limits of one request to the model service. */
export type Limits = {
  /** Attempts in total, including the first. */
  readonly attempts: number
  /** From the start of the first attempt to the end of the answer, including backoff. */
  readonly deadlineMs: number
  /** Until the first event of a streamed answer. Not retried, because somebody is waiting. */
  readonly firstEventMs: number
  /** Between two events of a stream, or until an answer that is not streamed. */
  readonly idleMs: number
  /** Size of one response body. */
  readonly maxResponseBytes: number
  /** Mean of the first backoff; full jitter makes it up to twice as long. Doubles each time. */
  readonly backoffMs: number
  /** A request that would have to wait longer, for Retry-After too, fails. */
  readonly maxBackoffMs: number
}

export const defaultLimits: Limits = {
  attempts: 3,
  deadlineMs: 300_000,
  firstEventMs: FIRST_EVENT_SECONDS * 1000,
  // Reasoning models can be silent for a while.
  idleMs: 120_000,
  maxResponseBytes: 16 * 1024 * 1024,
  backoffMs: 500,
  maxBackoffMs: 20_000,
}
