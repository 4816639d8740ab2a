import { wordsOf } from '../../projections/recall-text.ts'
import type { Candidate } from './candidate.ts'
import { isOwner } from './canonical-key.ts'
import { type Evidence, joined } from './evidence.ts'
import { calendarNames, namedMonths, type ResolvedDate, resolveDates } from './language/dates.ts'
import type { LanguageCode } from './language/lexicon.ts'
import { dictatedNumbers, spokenNumbers, type WrittenNumber, writtenNumbers } from './language/numbers.ts'
import { foldText, languageOf, sentencesOf } from './language/text.ts'
import {
  contentWords,
  coverage,
  hasName,
  hasWord,
  indexWords,
  isOwnerWord,
  sharesPair,
} from './language/words.ts'

/** Gates over the words of a candidate: no number, name or claim that the quote does not hold. Each is pure. */

export type WordCourt = {
  /** Texts of memories that the candidate restates or refines. */
  readonly kin: readonly string[]
  readonly timezone: string
}

/** The dates that the sentences of a quote tell, as of when they were said. */
export function datesOf(evidence: Evidence, timezone: string): ResolvedDate[] {
  const { at } = evidence.quotable.utterance
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

/** Number words that are as often no number. */
const AMBIGUOUS =
  /\b(?:first|second|third|once|half|quarter|noon|midnight|due|sei|six|sept|neuf|dix|mille|cent|mil|seis|dos|fem|tio|elf|acht)\b|[一十百千]/giu

/** Tells a number, in digits or in words, that neither the quote nor a date that it tells holds. */
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
  // Reading dates costs more than all the rest, so only where something is left to explain.
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

/** Whether a number stands there: its digits as a whole, or each of its parts as a value. */
function isHeld(
  { digits, parts }: WrittenNumber,
  written: readonly WrittenNumber[],
  values: ReadonlySet<number>,
): boolean {
  return written.some((other) => other.digits === digits) || parts.every((part) => values.has(part))
}

/** A capital, in a script that has them, in the middle of a sentence; and abbreviations. */
const CAPITALISED = /\p{Lu}[\p{L}\p{M}'’-]*/gu
/** Languages in which capitals say nothing about names. */
const CAPITALISES_NOUNS: ReadonlySet<LanguageCode> = new Set(['de'])
const PRONOUN = /^(?:I|I'm|I've|I'll|I'd|Mr|Mrs|Ms|Dr|Prof|OK|Okay)$/

/** Names somebody or something that the quote does not: in the text, or as the value or subject. */
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
  const calendar = new Set(dates.flatMap((date) => [...calendarNames(date, language)]))
  return missing.some((name) => !calendar.has(foldText(name)))
}

/** A word of the quote or slot that a text merely writes large ("Phone number: …", "Software Engineer"). */
function hasCommonWord(
  index: ReturnType<typeof indexWords>,
  slot: ReturnType<typeof indexWords>,
  name: string,
): boolean {
  return wordsOf(name).every((word) => index.words.includes(word) || hasWord(slot, word))
}

const KINDRED_LETTERS = 3

/** Whether a noun may be made of a word of the quote: "Nussallergie" of "Nüsse", "Geburtstag" of "geboren". */
function isKindred(noun: string, { words }: ReturnType<typeof indexWords>): boolean {
  const folded = foldText(noun)
  return words.some(
    (word) => word.length >= KINDRED_LETTERS && folded.startsWith(word.slice(0, KINDRED_LETTERS)),
  )
}

/** Capitalised words that do not merely open a sentence. */
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

/** At least so much of a value must stand in the quote, and of the text. */
const VALUE_COVERAGE = 0.5
const TEXT_COVERAGE = 0.34

/**
 * Claims what the quote does not say: its value is not there, or next to nothing of its text. A translation is such
 * a claim too: the owner's language is kept.
 */
export function unsupported(candidate: Candidate, evidence: Evidence, { kin, timezone }: WordCourt): boolean {
  const language = languageOf(candidate.text, evidence.lexicon.code) ?? evidence.lexicon.code
  const index = indexWords(evidence.quote.text, ...kin)
  const isWord = (word: string) => !/^\d+$/.test(word)
  const value = contentWords(candidate.value, language).filter(isWord)
  // A value that the text does not tell would lend it a support that is not its own.
  if (coverage(indexWords(candidate.text), value) < VALUE_COVERAGE) return true
  const slot = indexWords(candidate.slot)
  const hasValue = value.length > 0 || writtenNumbers(candidate.value).length > 0
  // What the slot is called is the extractor's own word.
  const text = contentWords(candidate.text, language).filter(
    (word) => isWord(word) && !(hasValue && hasWord(slot, word)),
  )
  const unheld = (words: readonly string[]) => words.filter((word) => !hasWord(index, word))
  const isCovered = coverage(index, value) >= VALUE_COVERAGE && coverage(index, text) >= TEXT_COVERAGE
  if (!sharesPair(index, candidate.value)) return true
  if (isCovered) return false
  // What a date is called may be in no word of the quote.
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
