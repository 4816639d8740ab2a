import type { AnyEvent } from '../../ledger/reader.ts'
import { stemOf } from '../../projections/recall-text.ts'
import { isTelling, tokensOf } from '../../projections/telling-words.ts'

/** Stands in a redacted text where words were erased. */
export const ERASED_MARK = '[erased]'

/** The telling words of a text without their inflection: what a quotation is recognised by. */
export function quotableWords(text: string): Set<string> {
  const words = new Set<string>()
  for (const { word } of tokensOf(text)) if (isTelling(word)) words.add(stemOf(word))
  return words
}

/** The quotable words of everything that an event's body says. */
export function wordsOfEvent(event: AnyEvent): Set<string> {
  if (event.type === 'unknown' || !event.body) return new Set()
  const strings = Object.values(event.body).filter((value) => typeof value === 'string')
  return quotableWords(strings.join('\n'))
}

/** Between two erased words this much may stand and go with them: grammar, not another sentence. */
const WITHIN_QUOTATION = /^[^.!?\n]*$/

/**
 * A text without the given words (as `quotableWords` has them): each stretch of them, with the common words in
 * between, becomes one mark. Null where nothing telling would be left.
 */
export function withoutWords(text: string, words: ReadonlySet<string>): string | null {
  const stretches: { start: number; end: number }[] = []
  let keepsTelling = false
  let isJoinable = false
  for (const { word, start, end } of tokensOf(text)) {
    if (!isTelling(word)) continue
    if (!words.has(stemOf(word))) {
      keepsTelling = true
      isJoinable = false
      continue
    }
    const last = stretches.at(-1)
    if (last && (start <= last.end || (isJoinable && WITHIN_QUOTATION.test(text.slice(last.end, start))))) {
      last.end = end
    } else {
      stretches.push({ start, end })
    }
    isJoinable = true
  }
  if (!keepsTelling) return null
  let kept = ''
  let from = 0
  for (const { start, end } of stretches) {
    kept += text.slice(from, start) + ERASED_MARK
    from = end
  }
  return kept + text.slice(from)
}
