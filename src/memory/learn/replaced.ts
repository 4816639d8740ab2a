import type { NewEvent } from '../../../ledger/event.ts'
import type { MemoryQueries } from '../../../projections/memory-queries.ts'
import type { UtteranceQueries } from '../../../projections/utterances.ts'
import { BY_SERVICE, retiredFact } from './facts.ts'

/**
 * The facts about memories that rest on nothing but messages that no longer count: another takes their place
 * (`replaced`), or the owner wants them not kept (`retracted`). They retire, and what they had replaced holds again.
 */
export function createRetiring({
  queries,
  utterances,
}: {
  readonly queries: MemoryQueries
  readonly utterances: UtteranceQueries
}): (seqs: readonly number[], reason: 'replaced' | 'retracted') => readonly NewEvent[] {
  /** Whether the owner said it, and neither replaced nor hid it. A sentence of the delegate only counts with their "yes". */
  const holds = (seq: number) =>
    !queries.isReplaced(seq) && !queries.isSecret(seq) && utterances.bySeq(seq)?.speaker === 'owner'

  return (seqs, reason) => {
    const restsOnThem = (memoryId: string) =>
      !queries.sources(memoryId).some((source) => !seqs.includes(source) && holds(source))
    const from = seqs.flatMap((seq) => queries.bySource(seq).map(({ memoryId }) => [memoryId, seq] as const))
    const retired = [...new Map(from)].filter(([memoryId]) => restsOnThem(memoryId))
    const restored = retired.flatMap(([memoryId, causedBy]) =>
      queries
        .predecessors(memoryId)
        .filter((older) => older.status === 'superseded' && !restsOnThem(older.memoryId))
        .map((older) => ({ causedBy, facts: { memoryId: older.memoryId } })),
    )
    return [
      ...retired.map(([memoryId, causedBy]) => retiredFact(memoryId, reason, { causedBy })),
      ...restored.map((each): NewEvent => ({ type: 'memory.restored', ...BY_SERVICE, ...each })),
    ]
  }
}
