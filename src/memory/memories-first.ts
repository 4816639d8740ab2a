import { contentWords, coverage, indexWords } from './language/words.ts'
import type { Recollection } from './recall/recollections.ts'

/** A turn of whose words a memory holds this part says nothing beside it. */
const SAYS_NO_MORE = 0.8

/**
 * Puts a memory in the place of the turn that it was learned from, where that comes first and says no more: the
 * memory knows whether it still holds, and that it was given is known of it. Otherwise the order stays.
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
