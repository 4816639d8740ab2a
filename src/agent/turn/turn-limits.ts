/** How long a turn may take. */
export type TurnLimits = {
  /** From start to outcome, including tools and compaction. */
  readonly deadlineMs: number
  /** Grace period after an abort, for a tool that ignores it. */
  readonly stopMs: number
}

export const TURN_LIMITS: TurnLimits = { deadlineMs: 10 * 60_000, stopMs: 5_000 }

/** The outcome of `work`. Rejects if it is still running `stopMs` after `signal` aborts. */
export async function withStopLimit<T>(work: Promise<T>, signal: AbortSignal, stopMs: number): Promise<T> {
  const givenUp = Promise.withResolvers<never>()
  let timer: NodeJS.Timeout | undefined
  const onAbort = () => {
    timer = setTimeout(() => givenUp.reject(new Error('the turn did not stop when aborted')), stopMs)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    return await Promise.race([work, givenUp.promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}
