/** Detects a dead connection: an answer is expected, but nothing arrives. */
export type SilenceWatch = {
  /** Call when anything arrives. Restarts the timeout. */
  heard(): void
  /** Call when `patienceMs` may have changed. */
  look(): void
  stop(): void
}

/**
 * Calls `onSilence` after `patienceMs` of silence, and repeats it until something arrives. `patienceMs` is
 * null while nothing is expected.
 */
export function createSilenceWatch(options: {
  readonly patienceMs: () => number | null
  readonly onSilence: () => void
}): SilenceWatch {
  let timer: ReturnType<typeof setTimeout> | undefined
  let patienceMs: number | null = null

  function startTimer(): void {
    clearTimeout(timer)
    timer = patienceMs === null ? undefined : setTimeout(silent, patienceMs)
  }

  function silent(): void {
    options.onSilence()
    startTimer()
  }

  return {
    heard: startTimer,
    look() {
      const now = options.patienceMs()
      if (now === patienceMs) return
      patienceMs = now
      startTimer()
    },
    stop() {
      patienceMs = null
      clearTimeout(timer)
    },
  }
}
