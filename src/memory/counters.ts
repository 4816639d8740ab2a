import type { NewEvent } from '../../ledger/event.ts'

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

export type MemoryCounters = {
  /** Counts what learning decided. */
  note(facts: readonly NewEvent[]): void
  /** Counts candidates that were discarded without a fact. */
  discarded(count: number): void
  suppressed(count: number): void
  read(): DeduplicationCounts
}

export function createMemoryCounters(since: string): MemoryCounters {
  let suppressed = 0
  let stored = 0
  let merged = 0
  let reinforced = 0
  let discarded = 0
  return {
    note(facts) {
      for (const fact of facts) {
        if (fact.type === 'memory.stored') stored += 1
        else if (fact.type === 'memory.merged') merged += 1
        else if (fact.type === 'memory.discarded') discarded += 1
        else if (fact.type === 'memory.reinforced' && fact.facts.use !== 'citation') reinforced += 1
      }
    },
    discarded(count) {
      discarded += count
    },
    suppressed(count) {
      suppressed += count
    },
    read: () => ({
      since,
      candidates: stored + reinforced + discarded,
      inserted: stored - merged,
      ...{ reinforced, merged, discarded, suppressed },
    }),
  }
}
