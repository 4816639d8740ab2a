import type { LedgerReader } from '../../ledger/reader.ts'
import { createContextQueries } from '../../projections/context.ts'
import { linesTelling, tellingWords } from '../../projections/copies.ts'
import { closureOf } from '../../projections/derivations.ts'
import type { Queries } from '../storage/queries.ts'
import type { ErasureReason, Storage } from '../storage/storage.ts'

/** Types in which a quoted stretch of the conversation may hide beside the reply itself. */
const BESIDE_A_REPLY = new Set(['tool.called', 'tool.returned', 'turn.items.kept'])

/** They tell of everything that was said: of these words only what tells of the same matter is looked for. */
const SUMMARIES = new Set(['context.compaction.succeeded', 'context.capsule.written'])

const EVENTS_A_SEARCH = 20

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
  /** Makes nothing of what words were turned into beside the stores. */
  readonly forgetVectors: (seqs: readonly number[]) => Promise<void>
}): Erasure {
  const { storage, queries } = options
  // What is hidden until it is erased must be found in its words, too.
  const { wholeLedger: ledger, views } = storage
  const { keptAfter } = createContextQueries(views)

  /**
   * With the reasoning that was kept since, in the same conversations: it is made of all that the model was given,
   * no search reaches into it, and a chain does without it. What belongs to no conversation may be in any.
   */
  function withKept(closure: readonly number[]): readonly number[] {
    const [first] = closure
    const kept = first === undefined ? [] : keptAfter(first)
    if (kept.length === 0) return closure
    const places = new Set(ledger.readSeqs(closure).map(({ conversationId }) => conversationId))
    const reached = kept.filter(({ conversationId }) => places.has(null) || places.has(conversationId))
    return [...new Set([...closure, ...reached.map(({ seq }) => seq)])].sort((a, b) => a - b)
  }

  /** In small parts: the search takes its turns with others that wait for the query thread. */
  async function copiesOf(seqs: readonly number[], matter: () => ReadonlySet<string>): Promise<number[]> {
    const copies: number[] = []
    for (let start = 0; start < seqs.length; start += EVENTS_A_SEARCH) {
      const texts = textsOf(ledger, seqs.slice(start, start + EVENTS_A_SEARCH)).map(
        ({ seq, type, text }) => ({
          seq,
          text: SUMMARIES.has(type) ? linesTelling(text, matter()) : text,
        }),
      )
      copies.push(...(await queries.ask('findCopies', texts)))
    }
    return copies
  }

  /** What the events other than summaries are about; made once it is asked for. */
  function matterOf(seqs: readonly number[]): () => ReadonlySet<string> {
    let words: ReadonlySet<string> | null = null
    return () => {
      words ??= tellingWords(
        textsOf(ledger, seqs).flatMap(({ type, text }) => (SUMMARIES.has(type) ? [] : [text])),
      )
      return words
    }
  }

  async function plan(seqs: readonly number[]): Promise<readonly number[]> {
    await storage.catchUpLagging()
    let closure = withKept(closureOf(views, seqs))
    const searched = new Set<number>()
    for (;;) {
      const fresh = closure.filter((seq) => !searched.has(seq))
      if (fresh.length === 0) return closure
      for (const seq of fresh) searched.add(seq)
      const copies = await copiesOf(fresh, matterOf(closure))
      const repeated = ledger.readSeqs(copies).filter((event) => event.actor === 'delegate')
      const beside = repeated.flatMap((event) =>
        event.turnId === null ? [] : options.turnEventSeqs(event.turnId),
      )
      const hidden = ledger.readSeqs(beside).filter((event) => BESIDE_A_REPLY.has(event.type))
      closure = withKept(
        closureOf(views, [...closure, ...repeated.map(({ seq }) => seq), ...hidden.map(({ seq }) => seq)]),
      )
    }
  }

  return {
    plan: async (seqs) => (await plan(seqs)).filter((seq) => hasWords(ledger, seq)),
    async erase(seqs, reason) {
      const all = await plan(seqs)
      try {
        return await storage.erase(all, reason)
      } finally {
        // Also where the files could not be cleared yet: what is recorded as erased goes on going.
        await options.forgetVectors(all)
      }
    },
  }
}

/** The strings of events' bodies. */
function textsOf(
  ledger: LedgerReader,
  seqs: readonly number[],
): { seq: number; type: string; text: string }[] {
  return ledger.readSeqs(seqs).flatMap((event) => {
    if (event.type === 'unknown' || !event.body) return []
    const strings = Object.values(event.body).filter((value) => typeof value === 'string')
    return strings.map((text) => ({ seq: event.seq, type: event.type, text }))
  })
}

function hasWords(ledger: LedgerReader, seq: number): boolean {
  const row = ledger.rowAt(seq)
  return row !== undefined && row.body !== null
}
