import type { LedgerEvent } from '../../ledger/event.ts'
import type { AnyEvent } from '../../ledger/reader.ts'
import { findCopies } from '../../projections/copies.ts'
import { toldBy } from '../../projections/memory-queries.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import type { Sources } from '../storage/function-thread.ts'
import { sentencesOf } from './language/text.ts'
import { hasWord, indexWords } from './language/words.ts'

/** A memory, as an answer may repeat it: what is told, and the words that say of what. */
export type Matter = { readonly value: readonly string[]; readonly words: readonly string[] }

/** What was said for the delegate, and what its tasks came to. */
const TELLS = new Set([
  'chat.reply.sent',
  'chat.reply.stopped',
  'call.reply.spoken',
  'sms.sent',
  'task.finished',
  'task.failed',
])
const ECHOES = 200

/**
 * Finds where the delegate told again what is to be forgotten. An answer is short ("Minka."), and only with its
 * question does it tell of what; so both are looked at together. For a worker thread.
 */
export function createEchoes({ views, ledger }: Pick<Sources, 'views' | 'ledger'>) {
  const turns = createTurnQueries(views)

  function telling(seqs: readonly number[]): LedgerEvent[] {
    return ledger
      .readSeqs(seqs)
      .filter((event): event is LedgerEvent => event.type !== 'unknown' && TELLS.has(event.type))
  }

  /** With what it answers: its turn, or what it came of. */
  function togetherWith({ seq, turnId, causedBy, derivedFrom }: LedgerEvent): string[] {
    const beside =
      turnId === null ? [...derivedFrom, ...(causedBy === null ? [] : [causedBy])] : turns.eventSeqs(turnId)
    return ledger.readSeqs([...new Set([seq, ...beside])].sort((a, b) => a - b)).flatMap(wordsOf)
  }

  return {
    /** Where it told the value of a memory, in words or in answer to words about the same matter. */
    ofMemory({ value, words }: Matter): number[] {
      const told = indexWords(value.join(' '))
      const others = words.filter((word) => !hasWord(told, word))
      if (value.length === 0 || others.length === 0) return []
      return telling(toldBy(views, { words: value, limit: ECHOES })).flatMap((event) => {
        const index = indexWords(...togetherWith(event))
        const held = others.filter((word) => hasWord(index, word)).length
        return held * 2 >= others.length ? [event.seq] : []
      })
    },

    /** Where it repeated a stretch of what was said, as far as that tells of the matter that the words name. */
    ofSaid(seqs: readonly number[], words: readonly string[]): number[] {
      const texts = ledger
        .readSeqs(seqs)
        .flatMap((event) =>
          wordsOf(event).map((text) => ({ seq: event.seq, text: sentencesWith(text, words) })),
        )
      return telling(findCopies(views, texts)).map(({ seq }) => seq)
    },
  }
}

function sentencesWith(text: string, words: readonly string[]): string {
  const sentences = sentencesOf(text).filter((sentence) => {
    const index = indexWords(sentence.text)
    return words.some((word) => hasWord(index, word))
  })
  return sentences.map((sentence) => sentence.text).join('\n')
}

/** What was said or written; of a tool nothing: it was given more than what was answered from it. */
function wordsOf(event: AnyEvent): string[] {
  if (event.type === 'unknown' || !event.body) return []
  if (event.type === 'task.dispatched') return [event.body.title, event.body.prompt]
  return 'text' in event.body && typeof event.body.text === 'string' ? [event.body.text] : []
}
