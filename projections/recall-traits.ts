import { timeWords } from './time-words.ts'

/** Features of an entry's text, as bits. */
export const TRAIT = {
  asks: 1,
  endsAsking: 2,
  tellsTime: 4,
  tellsNumber: 8,
  /** Contains a capitalised word inside a sentence, or a quoted title. */
  names: 16,
  quotesTitle: 32,
  /** Starts like an answer ("thanks", "wow"), so it rarely holds information itself. */
  acknowledges: 64,
} as const

const ASKS = /[?？؟⸮]/u
const ENDS_ASKING = /[?？؟⸮]["'”’»」)\s]*$/u
const ASKS_BEFORE_BRACKET = /[?？؟⸮]["'”’»」)\s]*\[/u
const NAMES = /[\p{Ll}\d'’] ["“«]?\p{Lu}\p{L}{2,}/u
const QUOTES_TITLE = /["“«]\p{Lu}|[「『《]/u
const ACKNOWLEDGES =
  /^\W*(?:thanks?|wow|that['’]?s|yeah|yes|yep|great|cool|awesome|sounds?|glad|congrats?|haha)\b/i
/** Among words that are separated by spaces. */
const NUMBER_WORD =
  /(?:^| )(?:\p{N}|(?:one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|several|dozens?|first|second|third|every|daily|weekly|always|never|years?)(?: |$))/u
const YEAR = /(?:^| )(?:19|20)\d\d(?: |$)/

/**
 * Finds the traits of a text, given its words (`wordsOf`) and their stems. Works in any language, within the limits of
 * punctuation, case, digits and locale data.
 */
export function traitsOf(text: string, words: readonly string[], stems: readonly string[]): number {
  const spaced = words.join(' ')
  const tellsTime =
    YEAR.test(spaced) ||
    timeWords()
      .find(stems)
      .some(({ from, meaning }) => {
        if (meaning.kind !== 'month') return true
        return !meaning.abbreviated && words[from] !== 'may'
      })
  return (
    (ASKS.test(text) ? TRAIT.asks : 0) |
    (endsAsking(text) ? TRAIT.endsAsking : 0) |
    (tellsTime ? TRAIT.tellsTime : 0) |
    (NUMBER_WORD.test(spaced) ? TRAIT.tellsNumber : 0) |
    (NAMES.test(text) ? TRAIT.names : 0) |
    (QUOTES_TITLE.test(text) ? TRAIT.quotesTitle : 0) |
    (ACKNOWLEDGES.test(text) ? TRAIT.acknowledges : 0)
  )
}

/** Ignores a bracketed remark at the end ("[photo]"). */
function endsAsking(text: string): boolean {
  if (ENDS_ASKING.test(text)) return true
  const end = text.trimEnd().length - 1
  if (end < 0 || text[end] !== ']') return false
  // The remark may start at any bracket opened since the last closed one.
  const start = end === 0 ? 0 : text.lastIndexOf(']', end - 1) + 1
  return ASKS_BEFORE_BRACKET.test(text.slice(start, end))
}
