import type { NewEvent } from '../../../ledger/event.ts'
import type { MemoryQueries } from '../../../projections/memory-queries.ts'
import { contentWords, hasWord, indexWords } from '../../text/words.ts'
import { takesBack } from './cues.ts'
import { placeOf, retiredFact } from './facts.ts'
import type { Window, WindowReader } from './window.ts'

/** Retires memories learned from a message that the owner's next one takes back. */
export function retractionsIn(
  window: Window,
  { windows, queries }: { readonly windows: WindowReader; readonly queries: MemoryQueries },
): NewEvent[] {
  return window.quotables.flatMap(({ agreed, utterance }) => {
    if (agreed || !takesBack(utterance.text)) return []
    const { conversationId, seq } = utterance
    const before = windows.before(conversationId, seq, 4).findLast(({ speaker }) => speaker === 'owner')
    const learned = before ? queries.bySource(before.seq) : []
    return learned
      .filter(({ memoryId }) => queries.sources(memoryId).every((source) => source === before?.seq))
      .map(({ memoryId }) => retiredFact(memoryId, 'retracted', placeOf(utterance)))
  })
}

/** Reinforces memories that a reply cites, unless the owner's message already stated them. */
export function citationsIn(
  window: Window,
  options: {
    readonly queries: MemoryQueries
    readonly recalledIn: (turnId: string) => {
      readonly ids: readonly string[]
      readonly replySeq: number | null
      readonly reply: string
    }
  },
): NewEvent[] {
  return window.quotables.flatMap(({ agreed, utterance }) => {
    const { turnId } = utterance
    if (agreed || turnId === null) return []
    const { ids, replySeq, reply } = options.recalledIn(turnId)
    if (replySeq === null || ids.length === 0) return []
    const [said, replied] = [indexWords(utterance.text), indexWords(reply)]
    return [...new Set(ids)].flatMap((memoryId): NewEvent[] => {
      const memory = options.queries.byId(memoryId)
      const words = contentWords(memory?.value || memory?.text || '')
      const isCited =
        words.length > 0 &&
        words.every((word) => hasWord(replied, word)) &&
        !words.every((word) => hasWord(said, word))
      if (!isCited) return []
      const facts = { memoryId, use: 'citation' as const, sourceSeqs: [replySeq] }
      return [{ type: 'memory.reinforced', ...placeOf(utterance), facts }]
    })
  })
}
