import type { AnyEvent } from '../../ledger/reader.ts'
import { stemOf } from '../../projections/recall-text.ts'
import { isTelling, tokensOf } from '../../projections/telling-words.ts'
import { bodyText } from '../lib/body-text.ts'

export const ERASED_MARK = '[erased]'

/** The stems of a text's distinctive words, which identify a quotation. */
export function quotableWords(text: string): Set<string> {
  const words = new Set<string>()
  for (const { word } of tokensOf(text)) if (isTelling(word)) words.add(stemOf(word))
  return words
}

/** The quotable words of an event's body. */
export function wordsOfEvent(event: AnyEvent): Set<string> {
  return quotableWords(bodyText(event))
}

/** Text between two erased words that goes with them; it must not contain the end of a sentence. */
const WITHIN_QUOTATION = /^[^.!?\n]*$/

/**
 * Replaces each run of the given words (as `quotableWords` returns them), including common words in between,
 * with one mark. Null if no distinctive word is left.
 */
export function withoutWords(text: string, words: ReadonlySet<string>): string | null {
  const runs: { start: number; end: number }[] = []
  let keepsDistinctive = false
  let isJoinable = false
  for (const { word, start, end } of tokensOf(text)) {
    if (!isTelling(word)) continue
    if (!words.has(stemOf(word))) {
      keepsDistinctive = true
      isJoinable = false
      continue
    }
    const last = runs.at(-1)
    if (last && (start <= last.end || (isJoinable && WITHIN_QUOTATION.test(text.slice(last.end, start))))) {
      last.end = end
    } else {
      runs.push({ start, end })
    }
    isJoinable = true
  }
  if (!keepsDistinctive) return null
  let kept = ''
  let from = 0
  for (const { start, end } of runs) {
    kept += text.slice(from, start) + ERASED_MARK
    from = end
  }
  return kept + text.slice(from)
}
