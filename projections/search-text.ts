import { normalizeText } from './normalize-text.ts'

/**
 * Scripts that are written without spaces between words: each character is made a token of its own, by a
 * zero-width space on both sides, and a query for a word becomes a phrase of its characters.
 * (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar.)
 */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*/gu
const ZERO_WIDTH_SPACE = '\u200b'

/** A text as the index takes it: composed (NFC), unspaced scripts cut into characters. Reads the same to a person. */
export function toIndexed(text: string): string {
  return normalizeText(text, 'NFC')
    .replaceAll(ZERO_WIDTH_SPACE, '')
    .replace(UNSPACED, `${ZERO_WIDTH_SPACE}$&${ZERO_WIDTH_SPACE}`)
}

/** A stretch of indexed text as it was written. */
export function fromIndexed(text: string): string {
  return text.replaceAll(ZERO_WIDTH_SPACE, '')
}

/** What FTS5 `unicode61` with categories L*, N*, Co, Mn, Mc takes for one word. */
const WORD = /[\p{L}\p{N}\p{Co}\p{Mn}\p{Mc}]+/gu

/** More words than anybody looks for at once; the cost of a search grows with them. */
const MAX_TERMS = 32

/**
 * An FTS5 query for what a person typed: every word must occur, the last one may go on; "quoted words" must
 * follow one another. Null when there is nothing to search for. Whatever is typed, it is never FTS5 syntax.
 */
export function toMatch(query: string): string | null {
  const terms: string[] = []
  for (const [, phrase, loose] of normalizeText(query, 'NFC').matchAll(/"([^"]*)"|([^"]+)/g)) {
    if (phrase !== undefined) {
      const words = toIndexed(phrase).match(WORD)
      if (words) terms.push(`"${words.join(' ')}"`)
      continue
    }
    for (const chunk of (loose ?? '').split(/\s+/)) {
      const words = toIndexed(chunk).match(WORD)
      if (words) terms.push(`"${words.join(' ')}"`)
    }
  }
  const last = terms.pop()
  if (last === undefined) return null
  const endsOpen = !/["\s]$/u.test(query)
  const others = [...new Set(terms)].filter((term) => term !== last).slice(0, MAX_TERMS - 1)
  return [...others, endsOpen ? `${last} *` : last].join(' ')
}

/**
 * Whether a text holds every word that a person typed, as `toMatch` understands it but for the order of quoted
 * ones: for a hit of which another text is part of the indexed document.
 */
export function holdsWords(query: string, text: string): boolean {
  const fold = (words: string) =>
    normalizeText(toIndexed(words), 'NFD')
      .replace(/\p{Mn}/gu, '')
      .toLowerCase()
  const wanted = fold(query).match(WORD) ?? []
  const held = new Set(fold(text).match(WORD))
  const endsOpen = !/["\s]$/u.test(query)
  return wanted.every(
    (word, index) =>
      held.has(word) ||
      (endsOpen && index === wanted.length - 1 && [...held].some((each) => each.startsWith(word))),
  )
}
