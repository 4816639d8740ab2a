import type { Database } from 'better-sqlite3'
import type { EventOf } from '../../../ledger/event.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import { createMemoryQueries, isHidden } from '../../../projections/memory-queries.ts'

/** A memory or a message that a proposal offers. */
export type Choice = {
  /** `memory:` and its id, or `message:` and its seq. */
  readonly id: string
  readonly kind: 'memory' | 'message'
  readonly text: string
  readonly at: string
}

/** Reads the words of choices where they are kept, so that a proposal repeats nothing that it is to erase. */
export function createChoices({
  views,
  ledger,
}: {
  readonly views: Database
  readonly ledger: LedgerReader
}) {
  const memories = createMemoryQueries(views)

  function choiceOf(id: string): Choice | null {
    const [kind, key = ''] = id.split(':', 2)
    if (kind === 'memory') {
      const memory = memories.byId(key)
      if (!memory?.text || isHidden(memory)) return null
      return { id, kind, text: memory.text, at: memory.validFrom }
    }
    const seq = Number(key)
    const [event] = memories.isBarred(seq) ? [] : ledger.readSeqs([seq])
    if (!event || event.type === 'unknown' || !event.body || !('text' in event.body)) return null
    return { id, kind: 'message', text: String(event.body.text), at: event.at }
  }

  return {
    /** Without those that are gone; null if the proposal has no choices. */
    read: (made: EventOf<'proposal.made'> | null): readonly Choice[] | null =>
      made?.facts.choices?.flatMap((id) => choiceOf(id) ?? []) ?? null,
  }
}
