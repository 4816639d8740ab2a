import { wordsOf } from '../../../projections/recall-text.ts'
import { calendarNames, namedMonths, type ResolvedDate, resolveDates } from '../../text/dates.ts'
import type { LanguageCode } from '../../text/lexicon.ts'
import { dictatedNumbers, spokenNumbers, type WrittenNumber, writtenNumbers } from '../../text/numbers.ts'
import { foldText, languageOf, sentencesOf } from '../../text/text.ts'
import {
  contentWords,
  coverage,
  hasName,
  hasWord,
  indexWords,
  isOwnerWord,
  sharesPair,
} from '../../text/words.ts'
import type { Candidate } from './candidate.ts'
import { isOwner } from './canonical-key.ts'
import { type Evidence, joined } from './evidence.ts'

/** Gates over the words of a candidate: every number, name and claim must be in the quote. Pure. */

export type WordCourt = {
  /** Texts of memories that the candidate restates or refines. */
  readonly kin: readonly string[]
  readonly timezone: string
}

/** The dates in the sentences of a quote, resolved from the time of the utterance. */
export function datesOf(evidence: Evidence, timezone: string): ResolvedDate[] {
  const at = new Date(evidence.quotable.utterance.at)
  const language = evidence.lexicon.code
  return evidence.sentences.flatMap(({ text }) => resolveDates(text, { at, timezone, language }))
}

function valuesOf(dates: readonly ResolvedDate[]): number[] {
  return dates.flatMap(({ year, month, day, hour, minute }) => [
    year,
    year % 100,
    month,
    day,
    hour ?? day,
    minute ?? day,
    (hour ?? day) % 12 || 12,
  ])
}

/** Number words that often mean something else. */
const AMBIGUOUS =
  /\b(?:first|second|third|once|half|quarter|noon|midnight|due|sei|six|sept|neuf|dix|mille|cent|mil|seis|dos|fem|tio|elf|acht)\b|[一十百千]/giu

/** Whether the candidate has a number, in digits or words, that neither the quote nor its dates contain. */
export function inventedNumber(
  candidate: Candidate,
  evidence: Evidence,
  { kin, timezone }: WordCourt,
): boolean {
  const claims = [
    candidate.text,
    candidate.value,
    candidate.slot,
    isOwner(candidate.subject) ? '' : candidate.subject,
  ]
  const quoted = [evidence.quote.text, ...kin]
  const written = [...quoted.flatMap(writtenNumbers), ...quoted.flatMap(dictatedNumbers)]
  const spoken = quoted.flatMap(spokenNumbers)
  const numbers = claims.flatMap(writtenNumbers)
  const words = claims.flatMap((claim) => spokenNumbers(claim.replace(AMBIGUOUS, ' ')))
  const plain = new Set([...written.flatMap(({ parts }) => parts), ...spoken])
  const open = numbers.filter((number) => !isHeld(number, written, plain))
  const openWords = words.filter((word) => !plain.has(word))
  if (open.length === 0 && openWords.length === 0) return false
  // Resolving dates is expensive, so do it only for numbers still unexplained.
  const { at } = evidence.quotable.utterance
  const held = new Set([
    ...plain,
    ...valuesOf(datesOf(evidence, timezone)),
    ...evidence.sentences.flatMap(({ text }) => namedMonths(text, evidence.lexicon.code)),
  ])
  const saidOn = at.slice(0, 10).replaceAll('-', '')
  return (
    open.some((number) => number.digits !== saidOn && !isHeld(number, written, held)) ||
    openWords.some((word) => !held.has(word))
  )
}

/** Whether the number occurs: all its digits together, or each of its parts as a value. */
function isHeld(
  { digits, parts }: WrittenNumber,
  written: readonly WrittenNumber[],
  values: ReadonlySet<number>,
): boolean {
  return written.some((other) => other.digits === digits) || parts.every((part) => values.has(part))
}

/** Capitalised words and abbreviations. */
const CAPITALISED = /\p{Lu}[\p{L}\p{M}'’-]*/gu
/** Languages in which capitals do not mark names. */
const CAPITALISES_NOUNS: ReadonlySet<LanguageCode> = new Set(['de'])
const PRONOUN = /^(?:I|I'm|I've|I'll|I'd|Mr|Mrs|Ms|Dr|Prof|OK|Okay)$/

/** Whether the candidate's text, value or subject names somebody or something that the quote does not. */
export function inventedName(
  candidate: Candidate,
  evidence: Evidence,
  { kin, timezone }: WordCourt,
): boolean {
  const language = languageOf(candidate.text, evidence.lexicon.code) ?? evidence.lexicon.code
  const index = indexWords(evidence.quote.text, ...kin)
  const capitalised = namesIn(candidate.text)
  const inText = CAPITALISES_NOUNS.has(language)
    ? capitalised.filter((name) => !isKindred(name, index))
    : capitalised
  const inWords = [candidate.value, isOwner(candidate.subject) ? '' : candidate.subject].flatMap((words) =>
    CAPITALISES_NOUNS.has(language) ? [] : [...words.matchAll(CAPITALISED)].map(([name]) => name),
  )
  const slot = indexWords(
    candidate.slot,
    candidate.kind,
    isOwner(candidate.subject) ? '' : joined(evidence.clauses),
  )
  const missing = [...new Set([...inText, ...inWords])].filter(
    (name) =>
      !PRONOUN.test(name) &&
      !wordsOf(name).every(isOwnerWord) &&
      !hasName(index, name, evidence.lexicon.code) &&
      !hasCommonWord(index, slot, name),
  )
  if (missing.length === 0) return false
  const dates = datesOf(evidence, timezone)
  const calendar = new Set(dates.flatMap((date) => calendarNames(date, language)))
  return missing.some((name) => !calendar.has(foldText(name)))
}

/** A common word that a text merely capitalises ("Phone number: …", "Software Engineer"). */
function hasCommonWord(
  index: ReturnType<typeof indexWords>,
  slot: ReturnType<typeof indexWords>,
  name: string,
): boolean {
  return wordsOf(name).every((word) => index.words.includes(word) || hasWord(slot, word))
}

const KINDRED_LETTERS = 3

/** Whether a noun may derive from a word of the quote: "Nussallergie" from "Nüsse". */
function isKindred(noun: string, { words }: ReturnType<typeof indexWords>): boolean {
  const folded = foldText(noun)
  return words.some(
    (word) => word.length >= KINDRED_LETTERS && folded.startsWith(word.slice(0, KINDRED_LETTERS)),
  )
}

/** Capitalised words that do not open a sentence. */
function namesIn(text: string): string[] {
  return sentencesOf(text).flatMap((sentence) => {
    const matches = [...sentence.text.matchAll(CAPITALISED)]
    return matches.flatMap((match) => (isOpening(sentence.text, match.index) ? [] : [match[0]]))
  })
}

function isOpening(sentence: string, at: number): boolean {
  const before = sentence.slice(0, at)
  return /^[^\p{L}\p{N}]*$/u.test(before) || /[:–—]\s*["'(]?$/u.test(before)
}

/** Share of the value and of the text that the quote must contain. */
const VALUE_COVERAGE = 0.5
const TEXT_COVERAGE = 0.34

/**
 * Whether the quote lacks the candidate's value or most of its text. This also rejects translations: memories
 * stay in the owner's language.
 */
export function unsupported(candidate: Candidate, evidence: Evidence, { kin, timezone }: WordCourt): boolean {
  const language = languageOf(candidate.text, evidence.lexicon.code) ?? evidence.lexicon.code
  const index = indexWords(evidence.quote.text, ...kin)
  const isWord = (word: string) => !/^\d+$/.test(word)
  const value = contentWords(candidate.value, language).filter(isWord)
  // Otherwise a value that the text does not state would support it.
  if (coverage(indexWords(candidate.text), value) < VALUE_COVERAGE) return true
  const slot = indexWords(candidate.slot)
  const hasValue = value.length > 0 || writtenNumbers(candidate.value).length > 0
  // The extractor chooses the slot's name, so its words need no support.
  const text = contentWords(candidate.text, language).filter(
    (word) => isWord(word) && !(hasValue && hasWord(slot, word)),
  )
  const unheld = (words: readonly string[]) => words.filter((word) => !hasWord(index, word))
  const isCovered = coverage(index, value) >= VALUE_COVERAGE && coverage(index, text) >= TEXT_COVERAGE
  if (!sharesPair(index, candidate.value)) return true
  if (isCovered) return false
  // The name of a month or weekday may be in no word of the quote.
  const calendar = indexWords(...datesOf(evidence, timezone).flatMap((date) => calendarNames(date, language)))
  const known = (words: readonly string[]) =>
    words.length - unheld(words).filter((word) => !hasWord(calendar, word)).length
  const isValueHeld = value.length === 0 || known(value) >= value.length * VALUE_COVERAGE
  const isTextHeld =
    text.length === 0 ||
    ((known(text) > 0 || hasValue) &&
      (known(text) >= text.length * TEXT_COVERAGE || text.length - known(text) < 3))
  return !(isValueHeld && isTextHeld)
}
