import type { LedgerReader } from '../../ledger/reader.ts'
import { closureOf } from '../../projections/derivations.ts'
import type { Queries } from '../storage/queries.ts'
import type { ErasureReason, Storage } from '../storage/storage.ts'

/** Types in which a quoted stretch of the conversation may hide beside the reply itself. */
const BESIDE_A_REPLY = new Set(['tool.called', 'tool.returned', 'turn.items.kept'])

export type Erasure = {
  /** All that would lose its words: what is named, what derives from it, and what repeats it. Ascending. */
  plan(seqs: readonly number[]): Promise<readonly number[]>
  /** Forgets for good. Resolves to the seqs whose words went, when no byte of them is left in any file. */
  erase(seqs: readonly number[], reason: ErasureReason): Promise<readonly number[]>
}

/**
 * The owner's right to forget. The recorded derivations give what was made from the words; the index finds where
 * the delegate repeated them. What the owner said elsewhere in the same words stays: it was not named.
 */
export function createErasure(options: {
  readonly storage: Storage
  readonly queries: Queries
  readonly turnEventSeqs: (turnId: string) => number[]
}): Erasure {
  const { storage, queries } = options
  const { ledger, views } = storage

  async function plan(seqs: readonly number[]): Promise<readonly number[]> {
    await storage.catchUpLagging()
    let closure = closureOf(views, seqs)
    const searched = new Set<number>()
    for (;;) {
      const fresh = closure.filter((seq) => !searched.has(seq))
      if (fresh.length === 0) return closure
      for (const seq of fresh) searched.add(seq)
      const copies = await queries.ask('findCopies', textsOf(ledger, fresh))
      const repeated = ledger.readSeqs(copies).filter((event) => event.actor === 'delegate')
      const beside = repeated.flatMap((event) =>
        event.turnId === null ? [] : options.turnEventSeqs(event.turnId),
      )
      const hidden = ledger.readSeqs(beside).filter((event) => BESIDE_A_REPLY.has(event.type))
      closure = closureOf(views, [
        ...closure,
        ...repeated.map(({ seq }) => seq),
        ...hidden.map(({ seq }) => seq),
      ])
    }
  }

  return {
    plan: async (seqs) => (await plan(seqs)).filter((seq) => hasWords(ledger, seq)),
    erase: async (seqs, reason) => storage.erase(await plan(seqs), reason),
  }
}

/** The strings of events' bodies. */
function textsOf(ledger: LedgerReader, seqs: readonly number[]): { seq: number; text: string }[] {
  return ledger.readSeqs(seqs).flatMap((event) => {
    if (event.type === 'unknown' || !event.body) return []
    const strings = Object.values(event.body).filter((value) => typeof value === 'string')
    return strings.map((text) => ({ seq: event.seq, text }))
  })
}

function hasWords(ledger: LedgerReader, seq: number): boolean {
  const row = ledger.rowAt(seq)
  return row !== undefined && row.body !== null
}
