/** How long a tool waits for the transcription of the words that caused it. */
const RECORDED_WITHIN_MS = 3_000

export type LatestWords = {
  /** The caller began to speak. */
  begun(): void
  /** The words were recorded. */
  recorded(seq: number): void
  /** The fact of the caller's latest words; null if there are none or they take too long to be recorded. */
  seq(signal: AbortSignal): Promise<number | null>
}

/** Finds the fact of the caller's latest words, which is recorded with a delay. */
export function createLatestWords(): LatestWords {
  let latest: number | null = null
  let pending: PromiseWithResolvers<void> | null = null
  return {
    begun() {
      pending ??= Promise.withResolvers()
    },
    recorded(seq) {
      latest = seq
      pending?.resolve()
      pending = null
    },
    async seq(signal) {
      if (!pending) return latest
      const waiting = pending.promise
      await new Promise<void>((resolve) => {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(RECORDED_WITHIN_MS)])
        limit.addEventListener('abort', () => resolve(), { once: true })
        if (limit.aborted) resolve()
        void waiting.then(resolve)
      })
      return pending ? null : latest
    },
  }
}
