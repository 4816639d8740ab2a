import { normalizeText } from './normalize-text.ts'

/**
 * Scripts without spaces between words. Zero-width spaces make each character a token, and a query for a word
 * becomes a phrase of its characters.
 */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*/gu
const ZERO_WIDTH_SPACE = '\u200b'

/** Converts a text for the index: NFC, with unspaced scripts split into characters. */
export function toIndexed(text: string): string {
  return normalizeText(text, 'NFC')
    .replaceAll(ZERO_WIDTH_SPACE, '')
    .replace(UNSPACED, `${ZERO_WIDTH_SPACE}$&${ZERO_WIDTH_SPACE}`)
}

/** Reverts `toIndexed`. */
export function fromIndexed(text: string): string {
  return text.replaceAll(ZERO_WIDTH_SPACE, '')
}

/** A word to FTS5's `unicode61` with categories L*, N*, Co, Mn, Mc. */
const WORD = /[\p{L}\p{N}\p{Co}\p{Mn}\p{Mc}]+/gu

/** Bounds the cost of a search, which grows with the number of words. */
const MAX_TERMS = 32

/** Converts a person's query to FTS5: every term must occur in the text. Null if it has no words. */
export function toMatch(query: string): string | null {
  const terms = toTerms(query)
  return terms.length === 0 ? null : terms.join(' ')
}

/**
 * The terms of a person's query, each an FTS5 query of the column `text`: words, the last one as a prefix, and
 * "quoted words" as a phrase. Input is never interpreted as FTS5 syntax.
 */
export function toTerms(query: string): string[] {
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
  if (last === undefined) return []
  const endsOpen = !/["\s]$/u.test(query)
  const others = [...new Set(terms)].filter((term) => term !== last).slice(0, MAX_TERMS - 1)
  return [...others, endsOpen ? `${last} *` : last].map((term) => `text : ${term}`)
}

/**
 * Whether a text contains every word of a query as `toMatch` reads it, ignoring the order of quoted words.
 * For hits in documents that combine several texts.
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
