import type { Channel } from '../../../ledger/event.ts'
import { type LanguageCode, type Lexicon, lexiconOf } from '../../text/lexicon.ts'
import { clausesOf, foldText, languageOf, type Span, sentencesOf } from '../../text/text.ts'
import { contentWords, hasWord, indexWords, type WordIndex } from '../../text/words.ts'
import type { Candidate } from './candidate.ts'
import { type ForeignSpan, foreignSpans } from './foreign-text.ts'

export type Utterance = {
  readonly seq: number
  readonly speaker: 'owner' | 'delegate'
  readonly text: string
  readonly at: string
  readonly channel: Channel | null
  readonly conversationId: string | null
  readonly spanId: string | null
  readonly turnId: string | null
}

/** Words that a memory may quote: the owner's, or a delegate's sentence that the owner agreed to. */
export type Quotable = {
  readonly text: string
  /** The owner's utterance: the words themselves, or the agreement. */
  readonly utterance: Utterance
  /** The source events of a memory that quotes it. */
  readonly seqs: readonly number[]
  readonly agreed: boolean
  /** The owner's next message, which may retract it. */
  readonly next: string | null
}

/** One occurrence of a candidate's quote, and its surroundings. All text is folded. */
export type Evidence = {
  readonly quotable: Quotable
  /** All the quotable text, with line breaks. */
  readonly text: string
  readonly quote: Span
  /** The whole sentences that the quote overlaps. */
  readonly sentences: readonly Span[]
  /** The sentence after those. */
  readonly following: Span | null
  /** The whole clauses that the quote overlaps: a quote may leave out a "not". */
  readonly clauses: readonly Span[]
  readonly lexicon: Lexicon
  readonly foreign: readonly ForeignSpan[]
  /** The words of the quote only. */
  readonly words: WordIndex
}

/** Folded, but with line breaks, which separate sentences. */
export function foldLines(text: string): string {
  return text
    .split(/\r\n?|\n/)
    .map((line) => foldText(line).trim())
    .join('\n')
}

const TRIM = /^[\s"'.,;:!?…*()[\]-]+|(?<![\s"'.,;:!?…*()[\]-])[\s"'.,;:!?…*()[\]-]+$/gu
const UNSPACED_EDGE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** Limits the work for a quote that occurs very often. */
const MAX_PLACES = 8

/** Yields at most MAX_PLACES occurrences of a quote, whole words only, the owner's own words first. */
export function* locate(quote: string, quotables: readonly Quotable[]): Generator<Evidence, void> {
  const wanted = foldText(quote).replace(TRIM, '')
  if (wanted === '') return
  const ordered = [...quotables].sort(
    (a, b) => Number(a.agreed) - Number(b.agreed) || b.utterance.seq - a.utterance.seq,
  )
  let left = MAX_PLACES
  for (const quotable of ordered) {
    for (const start of placesOf(wanted, readingOf(quotable).flat)) {
      if (left === 0) return
      left -= 1
      yield evidenceAt(quotable, { start, end: start + wanted.length, text: wanted })
    }
  }
}

/** Whether a quote occurs in the text. */
export function stands(quote: string, text: string): boolean {
  const wanted = foldText(quote).replace(TRIM, '')
  return wanted !== '' && placesOf(wanted, foldLines(text).replaceAll('\n', ' ')).next().done === false
}

function* placesOf(wanted: string, text: string): Generator<number, void> {
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    if (isEdge(text, at) && isEdge(text, at + wanted.length)) yield at
  }
}

/** Whether a word boundary is at this position. */
function isEdge(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 1), at)
  const after = text.slice(at, at + 1)
  if (UNSPACED_EDGE.test(before) || UNSPACED_EDGE.test(after)) return true
  return !(/[\p{L}\p{N}\p{M}]/u.test(before) && /[\p{L}\p{N}\p{M}]/u.test(after))
}

/** The part of the evidence that is the same for every quote. */
type Reading = Pick<Evidence, 'text' | 'foreign'> & {
  /** Without line breaks, but of the same length, so that offsets stay valid. */
  readonly flat: string
  readonly sentences: readonly Span[]
  readonly language: LanguageCode | null
}

const readings = new WeakMap<Quotable, Reading>()

/** Cached: a message may have hundreds of sentences and as many candidates. */
function readingOf(quotable: Quotable): Reading {
  let reading = readings.get(quotable)
  if (reading === undefined) {
    const text = foldLines(quotable.text)
    reading = {
      text,
      flat: text.replaceAll('\n', ' '),
      sentences: sentencesOf(text),
      language: languageOf(text),
      foreign: foreignSpans(text),
    }
    readings.set(quotable, reading)
  }
  return reading
}

function evidenceAt(quotable: Quotable, quote: Span): Evidence {
  const { text, foreign, language, sentences: all } = readingOf(quotable)
  const reaches = (span: Span) => span.start < quote.end && span.end > quote.start
  const sentences = all.filter(reaches)
  const own = languageOf(sentences.map((sentence) => sentence.text).join(' '))
  const end = sentences.at(-1)?.end ?? 0
  return {
    quotable,
    text,
    quote,
    sentences,
    following: all.find(({ start }) => start >= end) ?? null,
    clauses: sentences.flatMap(clausesOf).filter(reaches),
    lexicon: lexiconOf(own ?? language),
    foreign,
    words: indexWords(quote.text),
  }
}

/** The clauses that contain most of the candidate's value; all of them if none contains any of it. */
export function clausesWith(
  clauses: readonly Span[],
  { value, text }: Pick<Candidate, 'value' | 'text'>,
): readonly Span[] {
  for (const words of [contentWords(value), contentWords(text)]) {
    const counts = clauses.map((clause) => {
      const index = indexWords(clause.text)
      return words.filter((word) => hasWord(index, word)).length
    })
    const most = Math.max(0, ...counts)
    if (most > 0) return clauses.filter((_, at) => counts[at] === most)
  }
  return clauses
}

/** The clauses of a candidate's own text that state its value, folded. */
export function ownClauses(candidate: Pick<Candidate, 'value' | 'text'>): readonly Span[] {
  return clausesWith(sentencesOf(foldLines(candidate.text)).flatMap(clausesOf), candidate)
}

/** The lexicon of a candidate's text; that of its quote if the language is unclear. */
export function lexiconOfText(text: string, evidence: Evidence): Lexicon {
  return lexiconOf(languageOf(text, evidence.lexicon.code) ?? evidence.lexicon.code)
}

/** The spans as one text. */
export function joined(spans: readonly Span[]): string {
  return spans.map(({ text }) => text).join(' · ')
}
