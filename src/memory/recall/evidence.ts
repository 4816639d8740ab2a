import { FIRST_MEMORY_ID } from '../../../projections/recall-entries.ts'
import type { Postings, PostingsReader } from './postings.ts'
import { MAX_TERMS, type Query } from './query.ts'

/** How strictly a term is taken: the word itself, others of its root too, or others of its topic too. */
const MATCHINGS = ['exact', 'root', 'related'] as const
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
/** When so many memories hold the rarer words, the others are not looked at. */
const MAX_MEMORIES = 3000
/** A word in more entries than this says too little for the rest of its root or topic to be worth reading. */
const MAX_WIDENED = 2000
const WEIGHT: Readonly<Record<Matching, number>> = { exact: 1, root: 0.5, related: 0.6 }

/** Gathers the evidence for a query among turns up to `lastTurnId` and memories up to `lastMemoryId`. */
export type EvidenceGatherer = (query: Query, lastTurnId: number, lastMemoryId: number) => Evidence

/**
 * Gathers over postings. What it hands out is valid until it is asked again: its arrays are as long as there are
 * turns, so they are kept, and only what was written is cleared. What a gathering costs depends on the occurrences
 * of its words.
 */
export function createEvidenceGatherer(postings: PostingsReader): EvidenceGatherer {
  const memorySlots = createSeqNumbers()
  const masks: Record<Matching, Uint32Array> = {
    exact: new Uint32Array(0),
    root: new Uint32Array(0),
    related: new Uint32Array(0),
  }
  let weights = new Float32Array(0)
  let touched: number[] = []

  /** Makes room for so many slots, all of them empty. */
  function clear(slots: number): void {
    if (slots > weights.length) {
      const length = Math.ceil(slots * 1.5)
      for (const matching of MATCHINGS) masks[matching] = new Uint32Array(length)
      weights = new Float32Array(length)
    } else {
      for (const matching of MATCHINGS) clearSlots(masks[matching], touched)
      clearSlots(weights, touched)
    }
    touched = []
  }

  /** Numbers the memories in which anything occurs; to so many of the first a slot is given. */
  function numberMemories(lists: readonly (Postings | null)[]): number {
    const found = lists.flatMap((list) => list?.memorySeqs ?? [])
    const occurrences = found.reduce((sum, { length }) => sum + length, 0)
    // The rarest words first: of memories with a common word alone there are as good ones.
    if (occurrences > MAX_MEMORIES) found.sort((a, b) => a.length - b.length)
    let slots: number | null = null
    for (const seqs of found) {
      memorySlots.add(seqs)
      if (slots === null && memorySlots.seqs().length >= MAX_MEMORIES) slots = memorySlots.seqs().length
    }
    return slots ?? memorySlots.seqs().length
  }

  return (query, lastTurnId, lastMemoryId) => {
    const terms = query.terms.slice(0, MAX_TERMS)
    postings.refresh()
    const exactLists = readLists('exact', () => true)
    const isRare = (term: number) => (exactLists[term]?.count ?? 0) <= MAX_WIDENED
    const lists = {
      exact: exactLists,
      root: readLists('root', isRare),
      related: readLists('related', isRare),
    }
    const firstMemorySlot = lastTurnId + 1 + GAP
    memorySlots.clear(lastMemoryId - FIRST_MEMORY_ID)
    const memories = numberMemories(MATCHINGS.flatMap((matching) => lists[matching]))
    const memorySeqs = memorySlots.seqs()
    clear(firstMemorySlot + memories)
    // Memories without any of the terms are not counted: that would cost a scan, and move all weights alike.
    const total = lastTurnId + memorySeqs.length

    function readLists(matching: Matching, isAsked: (term: number) => boolean): (Postings | null)[] {
      return terms.map((term, index) => {
        const match = term[matching]
        return match === null || !isAsked(index) ? null : postings.read(match, lastTurnId, lastMemoryId)
      })
    }

    /** A looser match includes the strict one; where it adds nothing it is the strict one. */
    function occurrencesOf(matching: Matching, strict: Occurrences | null): Occurrences {
      const own = masks[matching]
      if (strict) copySlots(own, strict.masks, touched)
      const idf = new Float64Array(terms.length)
      lists[matching].forEach((list, term) => {
        const share = terms[term]?.weight ?? 1
        const strictCount = strict ? (lists.exact[term]?.count ?? 0) : 0
        idf[term] = share * idfOf(Math.min(strictCount + (list?.count ?? 0), total), total)
        if (list) mark(own, 1 << term, list, (idf[term] ?? 0) * WEIGHT[matching])
      })
      return { masks: own, idf }
    }

    function mark(own: Uint32Array, bit: number, { turnIds, memorySeqs }: Postings, weight: number): void {
      // Plain loops: a common word is in some ten thousand turns.
      for (let at = 0; at < turnIds.length; at += 1) markSlot(own, bit, turnIds[at] ?? 0, weight)
      for (let at = 0; at < memorySeqs.length; at += 1) {
        const number = memorySlots.numberOf(memorySeqs[at] ?? 0)
        if (number < memories) markSlot(own, bit, firstMemorySlot + number, weight)
      }
    }

    function markSlot(own: Uint32Array, bit: number, slot: number, weight: number): void {
      const mask = own[slot] ?? 0
      if ((mask & bit) !== 0) return
      own[slot] = mask | bit
      const before = weights[slot] ?? 0
      if (before === 0) touched.push(slot)
      weights[slot] = before + weight
    }

    const exact = occurrencesOf('exact', null)
    const root = occurrencesOf('root', exact)
    const related = occurrencesOf('related', exact)
    return {
      exact,
      root,
      related,
      weights,
      touched,
      maxIdf: Math.log(1 + (total + 0.5) / 0.5),
      slotOf(id) {
        if (id < FIRST_MEMORY_ID) return id <= lastTurnId ? id : undefined
        const number = memorySlots.numberOf(id - FIRST_MEMORY_ID)
        return number < 0 || number >= memories ? undefined : firstMemorySlot + number
      },
      idOf: (slot) =>
        slot <= lastTurnId ? slot : FIRST_MEMORY_ID + (memorySeqs[slot - firstMemorySlot] ?? 0),
    }
  }
}

/**
 * Where so many slots were written that there is one in so few, the whole stretch is cleared or copied: in one go that
 * costs less than one by one.
 */
const DENSE = 8

/** Makes slots zero; others of the array, where they are many, too. */
export function clearSlots(array: Uint32Array | Float32Array, slots: readonly number[]): void {
  if (slots.length * DENSE > array.length) array.fill(0)
  else for (const slot of slots) array[slot] = 0
}

/** Copies slots, and others where they are many: to an array that holds nothing else. */
function copySlots(to: Uint32Array, from: Uint32Array, slots: readonly number[]): void {
  if (slots.length * DENSE > to.length) to.set(from)
  else for (const slot of slots) to[slot] = from[slot] ?? 0
}

/** Numbers seqs from 0 on in the order in which they come: an array to look in, where a map costs ten times as much. */
export function createSeqNumbers() {
  /** One more than its number, by seq; 0 for none. */
  let numbers = new Int32Array(0)
  let seqs: number[] = []
  return {
    /** Forgets all, and makes room for seqs up to `last`. */
    clear(last: number): void {
      if (last >= numbers.length) numbers = new Int32Array(Math.ceil((last + 1) * 1.5))
      else for (const seq of seqs) numbers[seq] = 0
      seqs = []
    },
    add(list: Int32Array): void {
      for (let at = 0; at < list.length; at += 1) {
        const seq = list[at] ?? 0
        if (numbers[seq] === 0) numbers[seq] = seqs.push(seq)
      }
    },
    /** Below 0 for one that was not added. */
    numberOf: (seq: number): number => (numbers[seq] ?? 0) - 1,
    seqs: (): readonly number[] => seqs,
  }
}

/** Robertson and Spärck Jones' weight, never negative, as BM25 has it; 0 for a term without occurrence. */
function idfOf(count: number, total: number): number {
  return count === 0 ? 0 : Math.log(1 + (total - count + 0.5) / (count + 0.5))
}
