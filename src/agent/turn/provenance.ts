import type { AnyEvent } from '../../../ledger/reader.ts'
import { tellingWords } from '../../../projections/telling-words.ts'
import { bodyText, withoutNames } from '../../lib/body-text.ts'
import { textOf } from '../../model/tokens.ts'
import type { ContextItem } from '../context/context.ts'

type Quotable = Omit<ContextItem, 'foreign'>

export type Provenance = ReturnType<typeof createProvenance>

/** Finds the events that a text of the delegate repeats. Erasing one of them erases the text too. */
export function createProvenance() {
  /** Items keep their identity from turn to turn, events within one turn. */
  const known = new WeakMap<object, ReadonlySet<string>>()

  function wordsIn<T extends object>(source: T, textIn: (source: T) => string): ReadonlySet<string> {
    const words = known.get(source) ?? tellingWords(textIn(source))
    known.set(source, words)
    return words
  }

  return {
    /**
     * The seqs of the `own` events that share a telling word with the text and, for each remaining word, of the
     * latest item of `past` that contains it.
     */
    sourcesOf(text: string, own: readonly AnyEvent[], past: readonly Quotable[]): number[] {
      const words = tellingWords(text)
      const sources = own.flatMap((event) => {
        const shared = wordsIn(event, bodyText).intersection(words)
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

function quotableOf({ item, quotable }: Quotable): string {
  if (quotable !== undefined) return quotable
  if (item.type === 'tool_call') return withoutNames(item.arguments)
  return item.type === 'tool_result' ? withoutNames(item.output) : textOf(item)
}
