import { FIRST_MEMORY_ID } from '../../../projections/recall-entries.ts'
import type { Postings, PostingsReader } from './postings.ts'
import { MAX_TERMS, type Query } from './query.ts'

/** How loosely a term matches: the word itself or words of its root. */
const MATCHINGS = ['exact', 'root'] as const
export type Matching = (typeof MATCHINGS)[number]

/** Where the terms occur under one kind of matching: a bit mask of terms per slot. */
export type Occurrences = {
  readonly masks: Uint32Array
  /** Inverse document frequency times weight, per term; 0 for a term that never occurs. */
  readonly idf: Float64Array
}

/**
 * Where the terms of a query occur among all entries, so that the neighbours of an entry can be scored too.
 * Slots are numbered by turn id, followed by a gap and one slot per matching memory.
 */
export type Evidence = Readonly<Record<Matching, Occurrences>> & {
  /** Per slot, the sum of what occurs in it. Looser matches count less. */
  readonly weights: Float32Array
  /** Slots with any occurrence, each once. */
  readonly touched: readonly number[]
  /** Weight of a term that occurs nowhere but was still asked for. */
  readonly maxIdf: number
  readonly slotOf: (id: number) => number | undefined
  readonly idOf: (slot: number) => number
}

/** Empty slots that keep memories out of the window around the newest turn. */
const GAP = 8
/** Once the rarer words match this many memories, the other memories are skipped. */
const MAX_MEMORIES = 3000
/** Words more common than this are not extended to their root. */
const MAX_WIDENED = 2000
const WEIGHT: Readonly<Record<Matching, number>> = { exact: 1, root: 0.5 }

/** Gathers the evidence for a query among turns up to `lastTurnId` and memories up to `lastMemoryId`. */
export type EvidenceGatherer = (query: Query, lastTurnId: number, lastMemoryId: number) => Evidence

/**
 * Gathers over postings. The result is valid until the next call: its arrays have one slot per turn, so they
 * are reused and only the written slots are cleared. The cost depends on the occurrences of the words.
 */
export function createEvidenceGatherer(postings: PostingsReader): EvidenceGatherer {
  const memorySlots = createSeqNumbers()
  const masks: Record<Matching, Uint32Array> = {
    exact: new Uint32Array(0),
    root: new Uint32Array(0),
  }
  let weights = new Float32Array(0)
  let touched: number[] = []

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

  /** Numbers the matching memories. Returns how many of them get a slot. */
  function numberMemories(lists: readonly (Postings | null)[]): number {
    const found = lists.flatMap((list) => list?.memorySeqs ?? [])
    const occurrences = found.reduce((sum, { length }) => sum + length, 0)
    // Rarest words first: memories that match only a common word matter least.
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
    }
    const firstMemorySlot = lastTurnId + 1 + GAP
    memorySlots.clear(lastMemoryId - FIRST_MEMORY_ID)
    const memories = numberMemories(MATCHINGS.flatMap((matching) => lists[matching]))
    const memorySeqs = memorySlots.seqs()
    clear(firstMemorySlot + memories)
    // Counting memories without a match would need a scan and change all weights alike.
    const total = lastTurnId + memorySeqs.length

    function readLists(matching: Matching, isAsked: (term: number) => boolean): (Postings | null)[] {
      return terms.map((term, index) => {
        const match = term[matching]
        return match === null || !isAsked(index) ? null : postings.read(match, lastTurnId, lastMemoryId)
      })
    }

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
      // Plain loops: a common word occurs in tens of thousands of turns.
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
    return {
      exact,
      root,
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

/** From this density on, clearing or copying the whole array is faster than slot by slot. */
const DENSE = 8

/** Zeroes the slots, or the whole array if they are many. */
export function clearSlots(array: Uint32Array | Float32Array, slots: readonly number[]): void {
  if (slots.length * DENSE > array.length) array.fill(0)
  else for (const slot of slots) array[slot] = 0
}

/** Copies the slots, or the whole array if they are many. `to` must hold nothing else. */
function copySlots(to: Uint32Array, from: Uint32Array, slots: readonly number[]): void {
  if (slots.length * DENSE > to.length) to.set(from)
  else for (const slot of slots) to[slot] = from[slot] ?? 0
}

/** Numbers seqs from 0 in order of arrival. A typed array is ten times faster here than a map. */
export function createSeqNumbers() {
  /** Number plus one, by seq; 0 if none. */
  let numbers = new Int32Array(0)
  let seqs: number[] = []
  return {
    /** Clears everything and makes room for seqs up to `last`. */
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
    /** Negative if the seq was not added. */
    numberOf: (seq: number): number => (numbers[seq] ?? 0) - 1,
    seqs: (): readonly number[] => seqs,
  }
}

/** Robertson and Spärck Jones' weight in its non-negative BM25 form; 0 for a term that never occurs. */
function idfOf(count: number, total: number): number {
  return count === 0 ? 0 : Math.log(1 + (total - count + 0.5) / (count + 0.5))
}
