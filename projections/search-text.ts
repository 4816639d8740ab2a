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

/** The characters of words in FTS5's `unicode61` with categories L*, N*, Co, Mn, Mc. */
const IN_WORD = '\\p{L}\\p{N}\\p{Co}\\p{Mn}\\p{Mc}'
const WORD = new RegExp(`[${IN_WORD}]+`, 'gu')
/** Marks that `unicode61` ignores. */
const ACCENTS = '[\u0300-\u0331]'
const EACH_ACCENT = new RegExp(ACCENTS, 'g')

/** Bounds the cost of a search, which grows with the number of words. */
const MAX_TERMS = 32

/** Converts a person's query to FTS5: every term must occur in the text. Null if it has no words. */
export function toMatch(query: string): string | null {
  const terms = toTerms(query)
  return terms.length === 0 ? null : terms.join(' AND ')
}

/**
 * The terms of a person's query, each an FTS5 query of the column `text`: words, in the singular or plural, the last
 * one as a prefix, and "quoted words" as a phrase. Input is never interpreted as FTS5 syntax.
 */
export function toTerms(query: string): string[] {
  return phrasesOf(query).map(({ words, other, isOpen }) => {
    const phrase = `"${words}"${isOpen ? ' *' : ''}`
    return `text : ${other === null ? phrase : `(${phrase} OR "${other}")`}`
  })
}

/** Only the first words of a phrase are matched, which bounds the cost in texts that repeat one word. */
const PATTERN_WORDS = 16

/**
 * Matches any of the terms in an indexed text in NFD. For long texts, in which FTS5's highlighting takes quadratic
 * time.
 */
export function toPattern(query: string): RegExp {
  const patterns = phrasesOf(query).flatMap(({ words, other, isOpen }) => {
    const pattern = patternOf(words) + (isOpen ? `[${IN_WORD}]*` : '')
    return other === null ? [pattern] : [pattern, patternOf(other)]
  })
  return new RegExp(`(?<![${IN_WORD}])(?:${patterns.join('|')})(?![${IN_WORD}])`, 'giu')
}

function patternOf(words: string): string {
  const each = words.split(' ', PATTERN_WORDS).map((word) =>
    lettersOf(word)
      .map((letter) => `${letter}${ACCENTS}*`)
      .join(''),
  )
  return each.join(`[^${IN_WORD}]+`)
}

/** The characters of a word, without accents unless it has nothing else. */
function lettersOf(word: string): string[] {
  const letters = normalizeText(word, 'NFD')
  return [...(letters.replace(EACH_ACCENT, '') || letters)]
}

/** Words that must occur next to each other; an open phrase ends with a prefix. `other` is another form of a word. */
type Phrase = { readonly words: string; readonly other: string | null; readonly isOpen: boolean }

/** A word of Latin letters without the "s" of its plural, or with it; null if it has no such form. */
function otherNumber(word: string): string | null {
  if (!/^\p{Script=Latin}{3,}$/u.test(word) || /ss$/i.test(word)) return null
  return /s$/i.test(word) ? word.slice(0, -1) : `${word}s`
}

function phrasesOf(query: string): Phrase[] {
  const phrases = new Map<string, Phrase>()
  for (const [, quoted, loose = ''] of normalizeText(query, 'NFC').matchAll(/"([^"]*)"|([^"]+)/g)) {
    for (const chunk of quoted === undefined ? loose.split(/\s+/) : [quoted]) {
      const words = toIndexed(chunk).match(WORD)?.join(' ')
      if (words === undefined) continue
      phrases.delete(words)
      phrases.set(words, { words, other: quoted === undefined ? otherNumber(words) : null, isOpen: false })
    }
  }
  const all = [...phrases.values()]
  const last = all.pop()
  if (last === undefined) return []
  return [...all.slice(0, MAX_TERMS - 1), { ...last, isOpen: !/["\s]$/u.test(query) }]
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
      held.has(otherNumber(word) ?? word) ||
      (endsOpen && index === wanted.length - 1 && [...held].some((each) => each.startsWith(word))),
  )
}
