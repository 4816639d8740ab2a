/** A line of the log as the API shows it. */
export type LogLine = {
  /** Ascending, across restarts too, so that clients which follow the log miss nothing. */
  readonly id: number
  readonly at: string
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type LogLevel = (typeof logLevels)[number]

type LogQuery = { readonly limit: number; readonly minLevel: LogLevel; readonly after: number | null }

export type LogLines = ReturnType<typeof createLogLines>

/**
 * Keeps the newest `capacity` lines in memory for the browser, with ids above `aboveId`. The start time in
 * milliseconds is above all ids of earlier processes, because none logs a line per millisecond.
 */
export function createLogLines(capacity: number, aboveId = 0) {
  const kept: LogLine[] = []
  const subscribers = new Set<() => void>()
  let lastId = aboveId

  return {
    add(line: Omit<LogLine, 'id'>): void {
      lastId += 1
      kept.push({ id: lastId, ...line })
      if (kept.length > capacity) kept.shift()
      for (const subscriber of [...subscribers]) subscriber()
    },
    /**
     * Up to `limit` lines of `minLevel` or above: those right after line `after`, or the newest if it is null.
     * `dropped` counts the lines after `after`, of any level, that are no longer in memory; if `after` is null, those of
     * the whole process. Continue with `throughId` as `after`.
     */
    read({ limit, minLevel, after }: LogQuery) {
      const atLeast = logLevels.indexOf(minLevel)
      const wanted = kept.filter(({ level }) => logLevels.indexOf(level) >= atLeast)
      const droppedId = (kept[0]?.id ?? lastId + 1) - 1
      if (after === null)
        return { lines: wanted.slice(-limit), dropped: droppedId - aboveId, throughId: lastId }
      // Lines of an earlier process precede all of this one.
      const seen = Math.max(after, aboveId)
      const lines = wanted.filter(({ id }) => id > seen).slice(0, limit)
      const throughId = (lines.length === limit && lines.at(-1)?.id) || Math.max(seen, lastId)
      return { lines, dropped: Math.max(0, droppedId - seen), throughId }
    },
    /** Calls `onAdded` after each new line. Returns a function that unsubscribes. */
    subscribe(onAdded: () => void): () => void {
      subscribers.add(onAdded)
      return () => void subscribers.delete(onAdded)
    },
  }
}
