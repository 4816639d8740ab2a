import { FIRST_MEMORY_ID } from '../../../projections/recall-entries.ts'
import type { Postings, PostingsReader } from './postings.ts'
import { MAX_TERMS, type Query } from './query.ts'

/** How strictly a term is taken: the word itself, others of its root too, or others of its topic too. */
export const MATCHINGS = ['exact', 'root', 'related'] as const
export type Matching = (typeof MATCHINGS)[number]

/** Which terms occur where under one way of matching: a bit a term, in a mask a slot. */
export type Occurrences = {
  readonly masks: Uint32Array
  /** Inverse document frequency of each term times its weight; 0 for one that never occurs. */
  readonly idf: Float64Array
}

/**
 * Where the terms of a query occur, over everything at once, so that what surrounds an entry counts as exactly as
 * itself. A slot for each turn, numbered as the turn is, then after a gap one for each memory in which any occurs.
 */
export type Evidence = Readonly<Record<Matching, Occurrences>> & {
  /** The slots' sum of what occurs in them, the looser the match the less. */
  readonly weights: Float32Array
  /** The slots in which anything occurs, each once. */
  readonly touched: readonly number[]
  /** What a term that occurs nowhere would weigh: it is asked for all the same. */
  readonly maxIdf: number
  readonly slotOf: (id: number) => number | undefined
  readonly idOf: (slot: number) => number
}

/** Empty slots between turns and memories, so that the window around the newest turn reaches no memory. */
const GAP = 8
const WEIGHT: Readonly<Record<Matching, number>> = { exact: 1, root: 0.5, related: 0.6 }

/** Gathers the evidence for a query among turns up to `lastTurnId` and memories up to `lastMemoryId`. */
export function gatherEvidence(
  query: Query,
  postings: PostingsReader,
  lastTurnId: number,
  lastMemoryId: number,
): Evidence {
  const terms = query.terms.slice(0, MAX_TERMS)
  postings.refresh()
  const lists = {
    exact: readLists('exact'),
    root: readLists('root'),
    related: readLists('related'),
  }
  const memorySlots = new Map<number, number>()
  const memoryIds: number[] = []
  const firstMemorySlot = lastTurnId + 1 + GAP
  for (const list of MATCHINGS.flatMap((matching) => lists[matching])) {
    for (const seq of list?.memorySeqs ?? []) {
      if (memorySlots.has(seq)) continue
      memorySlots.set(seq, firstMemorySlot + memoryIds.length)
      memoryIds.push(FIRST_MEMORY_ID + seq)
    }
  }
  const slotOf = (id: number) => (id < FIRST_MEMORY_ID ? id : memorySlots.get(id - FIRST_MEMORY_ID))
  const slots = firstMemorySlot + memoryIds.length
  const weights = new Float32Array(slots)
  const touched: number[] = []
  // Memories without any of the terms are not counted: that would cost a scan, and move all weights alike.
  const total = lastTurnId + memoryIds.length

  function readLists(matching: Matching): (Postings | null)[] {
    return terms.map((term) => {
      const match = term[matching]
      return match === null ? null : postings.read(match, lastTurnId, lastMemoryId)
    })
  }

  /** A looser match includes the strict one; where it adds nothing it is the strict one. */
  function occurrencesOf(matching: Matching, strict: Occurrences | null): Occurrences {
    const masks = strict ? strict.masks.slice() : new Uint32Array(slots)
    const idf = new Float64Array(terms.length)
    lists[matching].forEach((list, term) => {
      const share = terms[term]?.weight ?? 1
      const strictCount = strict ? (lists.exact[term]?.count ?? 0) : 0
      idf[term] = share * idfOf(Math.min(strictCount + (list?.count ?? 0), total), total)
      if (list) mark(masks, 1 << term, list, (idf[term] ?? 0) * WEIGHT[matching])
    })
    return { masks, idf }
  }

  function mark(masks: Uint32Array, bit: number, { turnIds, memorySeqs }: Postings, weight: number): void {
    // Plain loops: a common word is in some ten thousand turns.
    for (let at = 0; at < turnIds.length; at += 1) markSlot(masks, bit, turnIds[at] ?? 0, weight)
    for (const seq of memorySeqs) markSlot(masks, bit, memorySlots.get(seq) ?? 0, weight)
  }

  function markSlot(masks: Uint32Array, bit: number, slot: number, weight: number): void {
    const mask = masks[slot] ?? 0
    if ((mask & bit) !== 0) return
    masks[slot] = mask | bit
    const before = weights[slot] ?? 0
    if (before === 0) touched.push(slot)
    weights[slot] = before + weight
  }

  const exact = occurrencesOf('exact', null)
  return {
    exact,
    root: occurrencesOf('root', exact),
    related: occurrencesOf('related', exact),
    weights,
    touched,
    maxIdf: Math.log(1 + (total + 0.5) / 0.5),
    slotOf,
    idOf: (slot) => (slot <= lastTurnId ? slot : (memoryIds[slot - firstMemorySlot] ?? 0)),
  }
}

/** Robertson and Spärck Jones' weight, never negative, as BM25 has it; 0 for a term without occurrence. */
function idfOf(count: number, total: number): number {
  return count === 0 ? 0 : Math.log(1 + (total - count + 0.5) / (count + 0.5))
}
