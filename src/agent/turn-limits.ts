/** How long a turn may take. */
export type TurnLimits = {
  /** From its start to its answer or error, tools and compaction included. */
  readonly deadlineMs: number
  /** From being told to stop to being given up, where a tool does not listen. */
  readonly stopMs: number
}

export const TURN_LIMITS: TurnLimits = { deadlineMs: 10 * 60_000, stopMs: 5_000 }

/** The outcome of `work`. Rejects where that goes on for `stopMs` after it was told to stop. */
export async function orGivenUp<T>(work: Promise<T>, signal: AbortSignal, stopMs: number): Promise<T> {
  const givenUp = Promise.withResolvers<never>()
  let timer: NodeJS.Timeout | undefined
  const onAbort = () => {
    timer = setTimeout(() => givenUp.reject(new Error('the turn did not stop')), stopMs)
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
