import type { NewEvent } from '../../../ledger/event.ts'
import type { MemoryQueries } from '../../../projections/memory-queries.ts'
import type { UtteranceQueries } from '../../../projections/utterances.ts'
import { BY_SERVICE, retiredFact } from './facts.ts'

/**
 * The facts about memories when another message takes the place of the one at `seq`, or the owner wants it not kept: a
 * memory that rests on no other words of the owner is retired, and what it had replaced holds again.
 */
export function createRetiring({
  queries,
  utterances,
}: {
  readonly queries: MemoryQueries
  readonly utterances: UtteranceQueries
}): (seq: number) => readonly NewEvent[] {
  /** Whether the owner said it, and did not replace it. A sentence of the delegate only counts with their "yes". */
  const holds = (seq: number) => !queries.isReplaced(seq) && utterances.bySeq(seq)?.speaker === 'owner'

  return (seq) => {
    const restsOnIt = (memoryId: string) =>
      !queries.sources(memoryId).some((source) => source !== seq && holds(source))
    const retired = queries.bySource(seq).filter(({ memoryId }) => restsOnIt(memoryId))
    const restored = retired
      .flatMap(({ memoryId }) => queries.predecessors(memoryId))
      .filter(({ memoryId, status }) => status === 'superseded' && !restsOnIt(memoryId))
    return [
      ...retired.map(({ memoryId }) => retiredFact(memoryId, 'replaced', { causedBy: seq })),
      ...restored.map(
        ({ memoryId }): NewEvent => ({
          type: 'memory.restored',
          ...BY_SERVICE,
          causedBy: seq,
          facts: { memoryId },
        }),
      ),
    ]
  }
}
