/** A line of the log as the API shows it. */
export type LogLine = {
  /** Ascending, from 1, since the process started. */
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

/** Keeps the newest `capacity` lines. */
export function createLogLines(capacity: number): LogLines {
  const ring: LogLine[] = []
  const subscribers = new Set<() => void>()
  let lastId = 0

  return {
    add(line) {
      lastId += 1
      ring[(lastId - 1) % capacity] = { id: lastId, ...line }
      for (const subscriber of [...subscribers]) subscriber()
    },
    read({ limit, minLevel, after }) {
      const oldestId = Math.max(1, lastId - capacity + 1)
      const atLeast = logLevels.indexOf(minLevel)
      const lines: LogLine[] = []
      const take = (id: number) => {
        const line = ring[(id - 1) % capacity]
        if (line && logLevels.indexOf(line.level) >= atLeast) lines.push(line)
      }
      if (after === null) {
        for (let id = lastId; id >= oldestId && lines.length < limit; id -= 1) take(id)
        return { lines: lines.reverse(), dropped: oldestId - 1, throughId: lastId }
      }
      const first = Math.max(after + 1, oldestId)
      let id = first
      for (; id <= lastId && lines.length < limit; id += 1) take(id)
      return { lines, dropped: Math.max(0, first - after - 1), throughId: id - 1 }
    },
    subscribe(onAdded) {
      subscribers.add(onAdded)
      return () => subscribers.delete(onAdded)
    },
  }
}
