import { contentWords, coverage, indexWords } from '../../text/words.ts'
import type { Recollection } from './recollections.ts'

/** A memory that covers this share of a turn's words says as much as the turn. */
const SAYS_NO_MORE = 0.8

/**
 * Moves a memory ahead of the turn it was learned from, if the turn ranks higher but says no more. Unlike a
 * turn, a memory knows whether it still holds, and its use can be counted.
 */
export function memoriesFirst(recollections: readonly Recollection[]): Recollection[] {
  const learned = new Map<number, Recollection>()
  for (const recollection of recollections) {
    for (const seq of recollection.memory?.sourceSeqs ?? []) {
      if (!learned.has(seq)) learned.set(seq, recollection)
    }
  }
  const ordered = new Map<number, Recollection>()
  for (const recollection of recollections) {
    const memory = learned.get(recollection.seq)
    if (memory && !ordered.has(memory.seq) && saysNoMore(recollection, memory)) {
      const { seq } = memory
      ordered.set(seq, { ...memory, relevance: Math.max(memory.relevance, recollection.relevance) })
    }
    if (!ordered.has(recollection.seq)) ordered.set(recollection.seq, recollection)
  }
  return [...ordered.values()]
}

function saysNoMore(turn: Recollection, memory: Recollection): boolean {
  return coverage(indexWords(memory.text), contentWords(turn.text)) >= SAYS_NO_MORE
}
