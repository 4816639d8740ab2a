/** Notices a connection that is dead without a word: something is awaited of it, and nothing is heard. */
export type SilenceWatch = {
  /** Something was heard: the connection lives. */
  heard(): void
  /** To be called after each change of what is awaited. */
  look(): void
  stop(): void
}

/**
 * `patienceMs` says for how long silence is nothing out of the ordinary by what is awaited now; null where nothing is.
 * Longer than that, and `onSilence` is called, again and again while nothing is heard.
 */
export function createSilenceWatch(options: {
  readonly patienceMs: () => number | null
  readonly onSilence: () => void
}): SilenceWatch {
  let timer: ReturnType<typeof setTimeout> | undefined
  let patienceMs: number | null = null

  function count(): void {
    clearTimeout(timer)
    timer = patienceMs === null ? undefined : setTimeout(silent, patienceMs)
  }

  function silent(): void {
    options.onSilence()
    count()
  }

  return {
    heard: count,
    look() {
      const now = options.patienceMs()
      if (now === patienceMs) return
      patienceMs = now
      count()
    },
    stop() {
      patienceMs = null
      clearTimeout(timer)
    },
  }
}
