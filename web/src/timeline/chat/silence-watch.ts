/**
 * Detects a dead connection. Calls `onSilence` after `patienceMs` of silence, and repeats it until something arrives. `patienceMs` is
 * null while nothing is expected.
 */
export function createSilenceWatch(options: {
  readonly patienceMs: () => number | null
  readonly onSilence: () => void
}) {
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
    /** Call when anything arrives. Restarts the timeout. */
    heard: startTimer,
    /** Call when `patienceMs` may have changed. */
    look(): void {
      const now = options.patienceMs()
      if (now === patienceMs) return
      patienceMs = now
      startTimer()
    },
    stop(): void {
      patienceMs = null
      clearTimeout(timer)
    },
  }
}
