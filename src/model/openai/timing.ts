import { setTimeout as delay } from 'node:timers/promises'
import { afterAwake } from '../../clock/awake.ts'
import { FIRST_EVENT_SECONDS } from './defaults.ts'

/** Time and chance as the adapter needs them; tests bring their own. */
export type Timing = {
  /** Wall clock, ms since the epoch: for dates in headers and for expiry. */
  nowMs(): number
  /** Ms that pass, whatever the wall clock is set to, and however long the machine sleeps. */
  steadyMs(): number
  /** Resolves after `ms`; rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
  /** Calls back once after `ms` in which the process itself was not held up, unless cancelled by the returned function. */
  after(ms: number, callback: () => void): () => void
  /** Uniform in [0, 1). */
  random(): number
}

/** The real clock. Its timers keep no process alive. */
export const systemTiming: Timing = {
  nowMs: Date.now,
  steadyMs: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }),
  after: afterAwake,
  random: Math.random,
}

/** What one request to the model service may take, at most. */
export type Limits = {
  /** Tries in all, the first included. */
  readonly attempts: number
  /** From the first try to the last word, backoff included. */
  readonly deadlineMs: number
  /** Until the first event of a streamed answer. Such a try is not repeated: somebody waits for it. */
  readonly firstEventMs: number
  /** Between two events of a stream, and until an answer that comes in one piece. */
  readonly idleMs: number
  /** Bytes of one answer's body. */
  readonly maxResponseBytes: number
  /** The first backoff on average: by full jitter it is anything up to twice that. Each further one doubles. */
  readonly backoffMs: number
  /** A longer wait, also one that the service asks for, is not waited for: the request fails. */
  readonly maxBackoffMs: number
}

export const defaultLimits: Limits = {
  attempts: 3,
  deadlineMs: 300_000,
  firstEventMs: FIRST_EVENT_SECONDS * 1000,
  // Long enough for a reasoning model's silence.
  idleMs: 120_000,
  maxResponseBytes: 16 * 1024 * 1024,
  backoffMs: 500,
  maxBackoffMs: 20_000,
}
