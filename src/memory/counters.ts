/** Memory counters since the process started, for the operations report and the insights. */
export type DeduplicationCounts = {
  readonly since: string
  readonly candidates: number
  readonly inserted: number
  readonly reinforced: number
  readonly merged: number
  readonly discarded: number
  readonly suppressed: number
}

export type CountedEnd = Exclude<keyof DeduplicationCounts, 'since'>

export type MemoryCounters = {
  add(count: CountedEnd, by?: number): void
  read(): DeduplicationCounts
}

export function createMemoryCounters(since: string): MemoryCounters {
  const counts = { candidates: 0, inserted: 0, reinforced: 0, merged: 0, discarded: 0, suppressed: 0 }
  return {
    add(count, by = 1) {
      counts[count] += by
    },
    read: () => ({ since, ...counts }),
  }
}
