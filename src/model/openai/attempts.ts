import { NoAnswer } from '../port.ts'
import type { Failure } from './failures.ts'
import type { Limits, Timing } from './timing.ts'

/** One try. `signal` aborts it; `alive` says that the service is still talking, which holds off the idle timeout. */
export type Attempt<T> = (signal: AbortSignal, alive: () => void) => AsyncIterable<T>

export type AttemptOptions = {
  readonly signal: AbortSignal
  readonly timing: Timing
  readonly limits: Limits
  /** The answer comes as events, and the first of them within this time; without, only `limits.idleMs` holds. */
  readonly firstEventMs?: number
  /** Says what an error of an attempt means. */
  readonly classify: (error: unknown) => Failure
}

/**
 * Runs an attempt, and again when it failed for a passing reason, with exponential backoff and full jitter
 * (Brooker, "Exponential Backoff and Jitter"), not before the service's Retry-After, within one deadline for all.
 * Once anything was passed on there is no retry: what the caller has seen cannot be unsaid.
 * Throws the caller's own reason when `signal` aborts, else ModelError.
 */
export async function* withAttempts<T>(attempt: Attempt<T>, options: AttemptOptions): AsyncGenerator<T> {
  const { signal, timing, limits } = options
  signal.throwIfAborted()
  const deadline = new AbortController()
  const deadlineAtMs = timing.steadyMs() + limits.deadlineMs
  const cancelDeadline = timing.after(limits.deadlineMs, () => {
    const seconds = secondsOf(limits.deadlineMs)
    deadline.abort(new NoAnswer(`The model service did not finish its answer within ${seconds} seconds.`))
  })
  const bound = AbortSignal.any([signal, deadline.signal])
  try {
    for (let tries = 1; ; tries += 1) {
      let passedOn = false
      try {
        for await (const event of withIdleTimeout(attempt, bound, options)) {
          passedOn = true
          yield event
        }
        return
      } catch (error) {
        bound.throwIfAborted()
        const failure = options.classify(error)
        const delayMs = backoffMs(tries, failure.error.retryAfterMs, options)
        const isTooLong = delayMs > limits.maxBackoffMs || timing.steadyMs() + delayMs >= deadlineAtMs
        if (passedOn || !failure.retry || tries >= limits.attempts || isTooLong) throw failure.error
        await waitFor(delayMs, bound, timing)
      }
    }
  } finally {
    cancelDeadline()
  }
}

/** The same for an answer that comes in one piece. */
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
  const arm = () =>
    timing.after(limits.idleMs, () => {
      idle.abort(new NoAnswer(`The model service said nothing for ${secondsOf(limits.idleMs)} seconds.`))
    })
  const armFirst = (ms: number) =>
    timing.after(ms, () => {
      idle.abort(new NoAnswer(`The model service did not begin to answer within ${secondsOf(ms)} seconds.`))
    })
  let disarm = firstEventMs === undefined ? arm() : armFirst(firstEventMs)
  const signal = AbortSignal.any([bound, idle.signal])
  const alive = () => {
    disarm()
    disarm = arm()
  }
  try {
    for await (const event of attempt(signal, alive)) {
      // While the consumer takes its time, the service is not to blame.
      disarm()
      yield event
      disarm = arm()
    }
    // An aborted stream may just end: it must not pass for a complete one.
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

async function waitFor(ms: number, signal: AbortSignal, timing: Timing): Promise<void> {
  try {
    await timing.sleep(ms, signal)
  } catch (error) {
    // A sleep that is aborted rejects with an error of its own; the reason is what the caller must see.
    signal.throwIfAborted()
    throw error
  }
}

const secondsOf = (ms: number): number => Math.round(ms / 1000)
