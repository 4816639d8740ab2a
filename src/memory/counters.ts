import type { NewEvent } from '../../ledger/event.ts'

export type MemoryCounters = ReturnType<typeof createMemoryCounters>

/** Memory counters since the process started, for the operations report and the insights. */
export function createMemoryCounters(since: string) {
  let suppressed = 0
  let stored = 0
  let merged = 0
  let reinforced = 0
  let discarded = 0
  return {
    /** Counts what learning decided. */
    note(facts: readonly NewEvent[]): void {
      for (const fact of facts) {
        if (fact.type === 'memory.stored') stored += 1
        else if (fact.type === 'memory.merged') merged += 1
        else if (fact.type === 'memory.discarded') discarded += 1
        else if (fact.type === 'memory.reinforced' && fact.facts.use !== 'citation') reinforced += 1
      }
    },
    /** Counts candidates that were discarded without a fact. */
    discarded(count: number): void {
      discarded += count
    },
    suppressed(count: number): void {
      suppressed += count
    },
    read: () => ({
      since,
      candidates: stored + reinforced + discarded,
      inserted: stored - merged,
      reinforced,
      merged,
      discarded,
      suppressed,
    }),
  }
}
