/** How long a tool waits for the words that asked for it: they are written down while the reply is on its way. */
const WRITTEN_WITHIN_MS = 3_000

export type LatestWords = {
  /** The caller began to speak. */
  begun(): void
  /** Their words are a fact now. */
  recorded(seq: number): void
  /** The fact of the words said last; null where nobody has said anything, or it takes too long. */
  seq(signal: AbortSignal): Promise<number | null>
}

/** Knows where the caller's last words stand, although they are written down late. */
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
        const limit = AbortSignal.any([signal, AbortSignal.timeout(WRITTEN_WITHIN_MS)])
        limit.addEventListener('abort', () => resolve(), { once: true })
        if (limit.aborted) resolve()
        void waiting.then(resolve)
      })
      return pending ? null : latest
    },
  }
}
