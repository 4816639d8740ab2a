import type { NewEvent } from '../../../ledger/event.ts'
import type { AnyEvent } from '../../../ledger/reader.ts'
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
  queries: MemoryQueries,
  eventsOf: (turnId: string) => readonly AnyEvent[],
): NewEvent[] {
  return window.quotables.flatMap(({ agreed, utterance }) => {
    if (agreed || utterance.turnId === null) return []
    const events = eventsOf(utterance.turnId)
    const ids = events.flatMap((event) => (event.type === 'memory.recalled' ? event.facts.ids : []))
    const reply = events.findLast(
      (event) =>
        event.type === 'chat.reply.sent' || event.type === 'sms.sent' || event.type === 'call.reply.spoken',
    )
    if (!reply) return []
    const [said, replied] = [indexWords(utterance.text), indexWords(reply.body?.text ?? '')]
    return [...new Set(ids)].flatMap((memoryId): NewEvent[] => {
      const memory = queries.byId(memoryId)
      const words = contentWords(memory?.value || memory?.text || '')
      const isCited =
        words.length > 0 &&
        words.every((word) => hasWord(replied, word)) &&
        !words.every((word) => hasWord(said, word))
      if (!isCited) return []
      const facts = { memoryId, use: 'citation' as const, sourceSeqs: [reply.seq] }
      return [{ type: 'memory.reinforced', ...placeOf(utterance), facts }]
    })
  })
}
