import { normalizeText } from '../../projections/normalize-text.ts'

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

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

/** Unicode ends a sentence after these, but their full stop is part of the word: "Dr. Weber", "J. R. Smith". */
const ABBREVIATED =
  /(?:^|[\s(])(?:(?:\p{L}{1,2}\.)*\p{L}|jan|feb|aug|sept?|oct|nov|dec|inc|ltd|ca|dr|mr|mrs|ms|prof|st|mt|jr|sr|vs|etc|e\.g|i\.e|a\.m|p\.m|approx|no|nr|apt|str|tel|dept|ave|rd)\.\s*$/iu

/** Unicode does not end a sentence before a lower-case letter, but folded text has no other letters. */
const BEFORE_LOWER_CASE = /(?=\p{Ll})(?<=[.!?]["')\]]?\s+)/u

/**
 * The sentences of a text, in order, trimmed. Splits as Unicode does (UAX #29), and also before a lower-case letter,
 * but not after an abbreviation.
 */
export function sentencesOf(text: string): Span[] {
  const spans: Span[] = []
  let start = 0
  let end = 0
  for (const segment of [...segmenter.segment(text)].flatMap((each) =>
    each.segment.split(BEFORE_LOWER_CASE),
  )) {
    end += segment.length
    if (end < text.length && ABBREVIATED.test(segment.slice(-MAX_ABBREVIATED_CHARS))) continue
    const raw = text.slice(start, end)
    const trimmed = raw.trim()
    const from = start + raw.indexOf(trimmed)
    if (trimmed !== '') spans.push({ start: from, end: from + trimmed.length, text: trimmed })
    start = end
  }
  return spans
}

const MAX_ABBREVIATED_CHARS = 12
