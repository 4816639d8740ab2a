import { english } from '../../language/message.ts'
import { NoAnswer } from '../port.ts'
import type { Failure } from './failures.ts'
import type { Limits, Timing } from './timing.ts'

/** One attempt. Call `alive` whenever the service sends something, to reset the idle timeout. */
export type Attempt<T> = (signal: AbortSignal, alive: () => void) => AsyncIterable<T>

export type AttemptOptions = {
  readonly signal: AbortSignal
  readonly timing: Timing
  readonly limits: Limits
  /** Time limit for the first event of a streamed answer. Without it only `limits.idleMs` applies. */
  readonly firstEventMs?: number
  readonly classify: (error: unknown) => Failure
}

/**
 * Retries transient failures with exponential backoff and full jitter (Brooker, "Exponential Backoff and
 * Jitter"), no earlier than Retry-After and within one deadline. Never retries once an event was yielded,
 * because the caller has used it. Throws the reason of `signal` when it aborts, else ModelError.
 */
export async function* withAttempts<T>(attempt: Attempt<T>, options: AttemptOptions): AsyncGenerator<T> {
  const { signal, timing, limits } = options
  signal.throwIfAborted()
  const deadline = new AbortController()
  const cancelDeadline = timing.after(limits.deadlineMs, () =>
    deadline.abort(noAnswer('unfinished', limits.deadlineMs)),
  )
  const bound = AbortSignal.any([signal, deadline.signal])
  try {
    for (let tries = 1; ; tries += 1) {
      let hasYielded = false
      try {
        for await (const event of withIdleTimeout(attempt, bound, options)) {
          hasYielded = true
          yield event
        }
        return
      } catch (error) {
        bound.throwIfAborted()
        const failure = options.classify(error)
        const delayMs = backoffMs(tries, failure.error.retryAfterMs, options)
        const isTooLong = delayMs > limits.maxBackoffMs
        if (hasYielded || !failure.retry || tries >= limits.attempts || isTooLong) throw failure.error
        await timing.sleep(delayMs, bound).catch(() => {
          signal.throwIfAborted()
          // The deadline would hide the reason.
          throw failure.error
        })
      }
    }
  } finally {
    cancelDeadline()
  }
}

/** Like `withAttempts`, for a single result. */
export async function attemptOnce<T>(
  attempt: (signal: AbortSignal, alive: () => void) => Promise<T>,
  options: AttemptOptions,
): Promise<T> {
  const results = withAttempts(async function* (signal, alive) {
    yield await attempt(signal, alive)
  }, options)
  for await (const result of results) return result
  throw new TypeError('an attempt ended without a result')
}

async function* withIdleTimeout<T>(
  attempt: Attempt<T>,
  bound: AbortSignal,
  { timing, limits, firstEventMs }: AttemptOptions,
): AsyncGenerator<T> {
  const idle = new AbortController()
  const arm = (what: Lack = 'silent', ms = limits.idleMs) =>
    timing.after(ms, () => idle.abort(noAnswer(what, ms)))
  let disarm = firstEventMs === undefined ? arm() : arm('not_begun', firstEventMs)
  const signal = AbortSignal.any([bound, idle.signal])
  const alive = () => {
    disarm()
    disarm = arm()
  }
  try {
    for await (const event of attempt(signal, alive)) {
      // The time that the consumer takes does not count.
      disarm()
      yield event
      disarm = arm()
    }
    // An aborted stream may end without an error. It must not look complete.
    signal.throwIfAborted()
  } catch (error) {
    idle.signal.throwIfAborted()
    throw error
  } finally {
    disarm()
  }
}

function backoffMs(tries: number, retryAfterMs: number | null, { timing, limits }: AttemptOptions): number {
  const jittered = timing.random() * Math.min(limits.backoffMs * 2 ** tries, limits.maxBackoffMs)
  return Math.max(jittered, retryAfterMs ?? 0)
}

type Lack = 'unfinished' | 'silent' | 'not_begun'

const NO_ANSWERS: Readonly<Record<Lack, (seconds: number) => string>> = {
  unfinished: (seconds) => english`The model service did not finish its answer within ${seconds} seconds.`,
  silent: (seconds) => english`The model service said nothing for ${seconds} seconds.`,
  not_begun: (seconds) => english`The model service did not begin to answer within ${seconds} seconds.`,
}

const noAnswer = (what: Lack, ms: number) => new NoAnswer(NO_ANSWERS[what](Math.round(ms / 1000)))
