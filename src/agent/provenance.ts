import type { AnyEvent } from '../../ledger/reader.ts'
import { tellingWords } from '../../projections/telling-words.ts'
import { textOf } from '../model/tokens.ts'
import type { ContextItem } from './context.ts'

type Quotable = Omit<ContextItem, 'foreign'>

/** Which events a text of the delegate's derives from, recorded with it: erasing one of them takes its words out. */
export type Provenance = {
  /**
   * Of what this turn was given, every event that shares a telling word with the text. For the words that none of
   * those has, of the conversation before the latest item that has it: what that repeats is recorded with it.
   */
  sourcesOf(text: string, own: readonly AnyEvent[], past: readonly Quotable[]): number[]
}

export function createProvenance(): Provenance {
  /** An item of the chain is the same object in every turn, an event within one. */
  const known = new WeakMap<object, ReadonlySet<string>>()

  function wordsIn<T extends object>(source: T, textIn: (source: T) => string): ReadonlySet<string> {
    const words = known.get(source) ?? tellingWords(textIn(source))
    known.set(source, words)
    return words
  }

  return {
    sourcesOf(text, own, past) {
      const words = tellingWords(text)
      const sources = own.flatMap((event) => {
        const shared = wordsIn(event, wordsOf).intersection(words)
        return shared.size === 0 ? [] : [{ seq: event.seq, shared }]
      })
      const open = words.difference(new Set(sources.flatMap(({ shared }) => [...shared])))
      const seqs = sources.map(({ seq }) => seq)
      for (let place = past.length - 1; place >= 0 && open.size > 0; place -= 1) {
        const item = past[place]
        const shared = item && open.intersection(wordsIn(item, quotableOf))
        if (!item || !shared || shared.size === 0) continue
        seqs.push(...item.seqs)
        for (const word of shared) open.delete(word)
      }
      return seqs
    },
  }
}

/** All strings of an event's body. */
function wordsOf(event: AnyEvent): string {
  if (event.type === 'unknown' || !event.body) return ''
  return Object.values(event.body)
    .filter((value) => typeof value === 'string')
    .join('\n')
}

function quotableOf({ item, quotable }: Quotable): string {
  return quotable ?? textOf(item)
}
