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
  const read = query.terms.slice(0, MAX_TERMS).map((term) =>
    MATCHINGS.map((matching) => {
      const match = term[matching]
      return match === null ? null : postings.read(match, lastTurnId, lastMemoryId)
    }),
  )
  const memorySlots = new Map<number, number>()
  const memoryIds: number[] = []
  const firstMemorySlot = lastTurnId + 1 + GAP
  for (const id of read.flatMap((lists) => lists.flatMap((list) => list?.memoryIds ?? []))) {
    if (memorySlots.has(id)) continue
    memorySlots.set(id, firstMemorySlot + memoryIds.length)
    memoryIds.push(id)
  }
  const slotOf = (id: number) => (id < FIRST_MEMORY_ID ? id : memorySlots.get(id))
  const slots = firstMemorySlot + memoryIds.length
  const weights = new Float32Array(slots)
  // Memories without any of the terms are not counted: that would cost a scan, and move all weights alike.
  const total = lastTurnId + memoryIds.length

  function occurrencesOf(matching: Matching): Occurrences {
    const masks = new Uint32Array(slots)
    const idf = new Float64Array(query.terms.length)
    const column = MATCHINGS.indexOf(matching)
    read.forEach((lists, term) => {
      // A looser match includes the strict one; where it adds nothing it is the strict one.
      const strict = lists[0] ?? null
      const loose = matching === 'exact' ? null : (lists[column] ?? null)
      const both = [strict, loose].filter((list): list is Postings => list !== null)
      const count = both.reduce((sum, list) => sum + list.count, 0)
      const { weight: share = 1 } = query.terms[term] ?? {}
      idf[term] = share * idfOf(Math.min(count, total), total)
      const weight = (idf[term] ?? 0) * WEIGHT[matching]
      const isAdded = (list: Postings) => matching === 'exact' || list === loose
      for (const list of both) mark(masks, 1 << term, list, isAdded(list) ? weight : 0)
    })
    return { masks, idf }
  }

  function mark(masks: Uint32Array, bit: number, list: Postings, weight: number): void {
    for (const ids of [list.turnIds, list.memoryIds]) {
      for (const id of ids) {
        const slot = slotOf(id)
        if (slot === undefined || ((masks[slot] ?? 0) & bit) !== 0) continue
        masks[slot] = (masks[slot] ?? 0) | bit
        weights[slot] = (weights[slot] ?? 0) + weight
      }
    }
  }

  return {
    exact: occurrencesOf('exact'),
    root: occurrencesOf('root'),
    related: occurrencesOf('related'),
    weights,
    maxIdf: Math.log(1 + (total + 0.5) / 0.5),
    slotOf,
    idOf: (slot) => (slot <= lastTurnId ? slot : (memoryIds[slot - firstMemorySlot] ?? 0)),
  }
}

/** Robertson and Spärck Jones' weight, never negative, as BM25 has it; 0 for a term without occurrence. */
function idfOf(count: number, total: number): number {
  return count === 0 ? 0 : Math.log(1 + (total - count + 0.5) / (count + 0.5))
}
