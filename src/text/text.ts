import { normalizeText } from '../../projections/normalize-text.ts'
import { type LanguageCode, languageCodes, lexiconOf, occurrences } from './lexicon.ts'

/**
 * Normalises case, width, quotation marks, apostrophes, dashes and spaces. May change the length. Keeps
 * accents, because they distinguish words.
 */
export function foldText(text: string): string {
  const lower = normalizeText(text, 'NFKC').toLowerCase()
  return normalizeText(lower, 'NFC')
    .replace(/[‘’ʼ`´′]/g, "'")
    .replace(/[“”„«»‟″]/g, '"')
    .replace(/[‐‑‒–—−]/g, '-')
    .replace(/[\p{Cf}]/gu, '')
    .replace(/\s+/g, ' ')
}

/** A part of a text, with its position. */
export type Span = { readonly start: number; readonly end: number; readonly text: string }

const SENTENCE_END = /(?<![.!?…])[.!?…]+["'”’»)\]]*(?=\s|$)|[。！？؟।｡]+["'”’»」』）)]*|\n+/gu
/** A full stop after these does not end a sentence. */
const ABBREVIATION =
  /(?:^|[\s(])(?:\p{L}|dr|mr|mrs|ms|mx|prof|st|mt|ft|jr|sr|capt|gen|sgt|lt|rev|vs|etc|e\.g|i\.e|a\.m|p\.m|approx|ca|bzw|z\.b|d\.h|usw|hr|fr|frau|herr|sra|mme|tel|\p{L}{0,20}str|ave|blvd|rd|inc|ltd|co|u\.s|u\.s\.a|u\.k)\.$/iu
/** A full stop after these does not end a sentence before a number: "No. 5", "Sept. 3". */
const BEFORE_NUMBER =
  /(?:^|[\s(])(?:no|nos|nr|num|fig|pp|vol|ch|art|apt|ext|jan|feb|mar|apr|jun|jul|aug|sept?|oct|okt|nov|dec|dez)\.$/iu
/** Longest abbreviation to check, including the character before it. */
const MAX_ABBREVIATION_CHARS = 32

/** An ordinal before a noun: "14. März". */
const ORDINAL = /(?:^|\s)\d{1,3}\.$/u
const COUNTED =
  /^\s+(?:jan|feb|mär|maer|apr|mai|maj|jun|jul|aug|sep|okt|nov|dez|dec|stock|etage|geburtstag|klasse|mal|platz)/iu
/** Without the `i` flag, which would also match capitals. */
const GOES_ON = /^\s+\p{Ll}/u

/** The sentences of a text, in order, trimmed. */
export function sentencesOf(text: string): Span[] {
  const spans: Span[] = []
  let start = 0
  const close = (end: number) => {
    const raw = text.slice(start, end)
    const trimmed = raw.trim()
    if (trimmed !== '') {
      const from = start + raw.indexOf(trimmed)
      spans.push({ start: from, end: from + trimmed.length, text: trimmed })
    }
    start = end
  }
  for (const match of text.matchAll(SENTENCE_END)) {
    const end = match.index + match[0].length
    const isLast = text.slice(end).trim() === ''
    const before = text.slice(Math.max(start, end - MAX_ABBREVIATION_CHARS), end)
    const isShort = match[0] === '.' && !isLast
    if (isShort && ABBREVIATION.test(before)) continue
    if (isShort && BEFORE_NUMBER.test(before) && /^\s+\d/u.test(text.slice(end))) continue
    const rest = text.slice(end)
    if (match[0] === '.' && ORDINAL.test(before) && (GOES_ON.test(rest) || COUNTED.test(rest))) continue
    close(end)
  }
  close(text.length)
  return spans
}

/** Conjunctions that join statements, except those that mean something else in another language. */
const JOINING =
  'but|and|because|although|though|while|whereas|so|aber|und|weil|obwohl|sondern|mais|et|pero|y|porque|aunque|sino|e|perché|però|bensì|mas|porém|maar|och|ale|ponieważ|lecz|ama|ve|но|и|а|потому что|але|та|і|αλλά|και|لكن|بل|אבל|אלא|लेकिन|और|बल्कि|하지만|그리고'
const CLAUSE_END = new RegExp(
  `(?<!\\d)[,;:](?!\\d)|(?<=\\d),(?=\\s)|[;、，；：،؛]|\\s[-–—]\\s|—|\\s(?=(?:${JOINING})\\s)|[()]|(?<=[然但])而|但是|不过|而是`,
  'giu',
)

/** The clauses of a sentence, in order. */
export function clausesOf(sentence: Span): Span[] {
  const spans: Span[] = []
  let start = 0
  const close = (end: number, next: number) => {
    const raw = sentence.text.slice(start, end)
    const trimmed = raw.trim()
    if (trimmed !== '') {
      const from = sentence.start + start + raw.indexOf(trimmed)
      spans.push({ start: from, end: from + trimmed.length, text: trimmed })
    }
    start = next
  }
  for (const match of sentence.text.matchAll(CLAUSE_END)) close(match.index, match.index + match[0].length)
  close(sentence.text.length, sentence.text.length)
  return spans
}

const SCRIPTS: readonly (readonly [RegExp, LanguageCode])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/gu, 'ja'],
  [/\p{Script=Hangul}/gu, 'ko'],
  [/\p{Script=Han}/gu, 'zh'],
  [/\p{Script=Thai}/gu, 'th'],
  [/\p{Script=Arabic}/gu, 'ar'],
  [/\p{Script=Hebrew}/gu, 'he'],
  [/\p{Script=Devanagari}/gu, 'hi'],
  [/\p{Script=Greek}/gu, 'el'],
  [/[іїєґІЇЄҐ]/gu, 'uk'],
  [/\p{Script=Cyrillic}/gu, 'ru'],
]
const LATIN = languageCodes.filter((code) => !SCRIPTS.some(([, other]) => other === code))
/** Letters that a language has and English lacks. Some belong to several languages. */
const LETTERS: readonly (readonly [RegExp, LanguageCode])[] = [
  [/[äöüß]/gu, 'de'],
  [/[ñ¿¡áíóú]/gu, 'es'],
  [/[ãõçâêôáíóú]/gu, 'pt'],
  [/[ąęłńśźż]/gu, 'pl'],
  [/[ğışçöü]/gu, 'tr'],
  [/[åäö]/gu, 'sv'],
  [/[œèêûîïàâç]/gu, 'fr'],
  [/[àèìòù]/gu, 'it'],
]
const LETTER_SCORE = 0.4
const MAX_LETTER_SCORE = 1.2

/**
 * The language of a text by script and frequent words; null if unclear. Among equally likely languages,
 * prefers `preferred`.
 */
export function languageOf(text: string, preferred: LanguageCode | null = null): LanguageCode | null {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  if (letters === 0) return null
  for (const [script, code] of SCRIPTS) {
    const own = text.match(script)?.length ?? 0
    // A foreign name does not change the language of a sentence.
    if (own * (code === 'ja' || code === 'uk' ? 8 : 3) >= letters) return code
  }
  const folded = foldText(text)
  const scores = LATIN.map((code) => {
    const common = occurrences(lexiconOf(code).common, folded).length
    const own = LETTERS.find(([, other]) => other === code)
    const lettersOfIt = own ? (folded.match(own[0])?.length ?? 0) : 0
    return { code, score: common + Math.min(MAX_LETTER_SCORE, lettersOfIt * LETTER_SCORE) }
  })
  const highest = Math.max(...scores.map(({ score }) => score))
  if (highest === 0) return null
  const likely = scores.filter(({ score }) => score === highest).map(({ code }) => code)
  if (preferred !== null && likely.includes(preferred)) return preferred
  return likely.length === 1 ? (likely[0] ?? null) : mostAtHome(folded, likely)
}

/** Breaks a tie by the less frequent words of each language. */
function mostAtHome(folded: string, likely: readonly LanguageCode[]): LanguageCode | null {
  const counts = likely.map((code) => {
    const { not, condition, uncertain, people, self, future } = lexiconOf(code)
    const lists = [not, condition, uncertain, people, self, future]
    return lists.reduce((sum, list) => sum + occurrences(list, folded).length, 0)
  })
  return likely[counts.indexOf(Math.max(...counts))] ?? null
}
