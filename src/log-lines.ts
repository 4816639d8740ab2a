/** A line of the log as the API shows it. */
export type LogLine = {
  /** Ascending; a later process goes on above those of the one before, so that who follows misses nothing. */
  readonly id: number
  readonly at: string
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type LogLevel = (typeof logLevels)[number]

export type LogPage = {
  readonly lines: readonly LogLine[]
  /** Lines that would have been here, had they not fallen out of the memory before they were asked for. */
  readonly dropped: number
  /** The last line that was looked at: to go on, ask for what comes after it. */
  readonly throughId: number
}

/** The newest lines of the log, kept in memory for the browser. */
export type LogLines = {
  add(line: Omit<LogLine, 'id'>): void
  /**
   * Up to `limit` lines of `minLevel` or above: those right after line `after`, or the newest where it is null.
   */
  read(query: { readonly limit: number; readonly minLevel: LogLevel; readonly after: number | null }): LogPage
  /** Calls `onAdded` whenever a line came. Returns what ends it. */
  subscribe(onAdded: () => void): () => void
}

/**
 * Keeps the newest `capacity` lines, with ids above `aboveId`: the time in milliseconds is above all that an earlier
 * process gave, since none writes a line each millisecond.
 */
export function createLogLines(capacity: number, aboveId = 0): LogLines {
  const ring: LogLine[] = []
  const subscribers = new Set<() => void>()
  let lastId = aboveId

  return {
    add(line) {
      lastId += 1
      ring[(lastId - 1) % capacity] = { id: lastId, ...line }
      for (const subscriber of [...subscribers]) subscriber()
    },
    read({ limit, minLevel, after }) {
      const oldestId = Math.max(aboveId + 1, lastId - capacity + 1)
      const atLeast = logLevels.indexOf(minLevel)
      const lines: LogLine[] = []
      const take = (id: number) => {
        const line = ring[(id - 1) % capacity]
        if (line && logLevels.indexOf(line.level) >= atLeast) lines.push(line)
      }
      if (after === null) {
        for (let id = lastId; id >= oldestId && lines.length < limit; id -= 1) take(id)
        return { lines: lines.reverse(), dropped: oldestId - 1 - aboveId, throughId: lastId }
      }
      // All that this process wrote comes after a line of an earlier one.
      const seen = Math.max(after, aboveId)
      const first = Math.max(seen + 1, oldestId)
      let id = first
      for (; id <= lastId && lines.length < limit; id += 1) take(id)
      return { lines, dropped: Math.max(0, first - seen - 1), throughId: id - 1 }
    },
    subscribe(onAdded) {
      subscribers.add(onAdded)
      return () => subscribers.delete(onAdded)
    },
  }
}
