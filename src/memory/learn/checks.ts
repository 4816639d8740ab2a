import { isUnspaced, wordsOf } from '../../../projections/recall-text.ts'
import { DAY_MS } from '../../lib/time.ts'
import { resolveDates } from '../../text/dates.ts'
import { hasNumbers, numberRuns } from '../../text/numbers.ts'
import { foldText, sentencesOf } from '../../text/text.ts'
import { contentWords, hasWord, indexWords } from '../../text/words.ts'
import type { Candidate, Offered } from './candidate.ts'
import { canonicalKey, isOwner, slotKeyOf, statementKeyOf } from './canonical-key.ts'
import { denies, isDoubtful, requestedIn, speaksOfOthers } from './cues.ts'
import { foldLines, foreignRanges } from './quotation.ts'
import { endOf, knownEnd, knownTime, namesOf, numbersOfDate, type Told } from './told-times.ts'
import type { Quotable, Utterance } from './window.ts'

const MAX_KEYWORDS = 12

export type Rejection =
  | 'empty'
  | 'too_long'
  | 'quote_not_in_source'
  | 'injected_text'
  | 'question'
  | 'hypothetical'
  | 'joke'
  | 'hearsay'
  | 'number_not_in_quote'
  | 'wrong_subject'
  | 'unsupported'
  | 'not_to_keep'

/** The context in which a candidate is checked. */
export type Context = {
  readonly quotables: readonly Quotable[]
  /** Everything shown, quotable or not. A subject may be named in an earlier turn. */
  readonly shown: readonly Utterance[]
  readonly offered: readonly Offered[]
  readonly timezone: string
}

/** A candidate whose evidence stands, ready for consolidation. */
export type Accepted = Candidate & {
  /** The events it is based on. */
  readonly sourceSeqs: readonly number[]
  /** The memories, by the fact that stored them, whose words it repeats. */
  readonly repeatedSeqs: readonly number[]
  /** The owner's own utterance among them. */
  readonly saidSeq: number
  readonly saidAt: string
  /** The owner agreed to the delegate's words. */
  readonly agreed: boolean
  /** Kept, but not taken as a fact until a second source or the owner confirms it. */
  readonly provisional: boolean
  readonly isNegated: boolean
  /** How long the event lasts. Event times closer together than this count as the same. */
  readonly eventLastsMs: number
  readonly canonicalKey: string
  readonly slotKey: string
  readonly statementKey: string
  /** Some of the words were pasted on the page. */
  readonly pasted?: boolean
}

export type Judged =
  | { readonly outcome: 'accepted'; readonly accepted: Accepted }
  | { readonly outcome: 'rejected'; readonly reason: Rejection }

export type Checked =
  | Judged
  /** The owner takes back what an offered memory says. */
  | {
      readonly outcome: 'ended'
      readonly memoryId: string
      readonly saidSeq: number
      readonly sourceSeqs: readonly number[]
    }
  /** The owner asks not to keep what these events say. */
  | { readonly outcome: 'secret'; readonly sourceSeqs: readonly number[] }

const MAX_TEXT_CHARS = 1000
const MAX_QUOTE_CHARS = 2000
const MAX_WORDS_CHARS = 1200
const MAX_SLOT_WORDS = 2

/** Moods that state nothing, as rejections. */
const UNSTATED: Partial<Record<Candidate['modality'], Rejection>> = {
  hypothetical: 'hypothetical',
  asked: 'question',
  joked: 'joke',
  quoted: 'injected_text',
}

/**
 * Checks the evidence of a candidate from any extractor: the owner said the quote, value and numbers stand in it,
 * and the subject stands in it or in an earlier turn. Where the statement says more than the quote, the quote is kept in its place; where it may
 * misread the quote, also without value and keys, so that it replaces nothing. Pure.
 */
export function check(candidate: Candidate, context: Context): Checked {
  const place = locate(candidate.quote, context.quotables)
  const isFound = place !== null && place !== 'foreign'
  if (candidate.secrecy === 'do_not_keep' && isFound && !place.quotable.utterance.isKept)
    return { outcome: 'secret', sourceSeqs: place.quotable.seqs }
  const early = unstated(candidate)
  if (early !== null) return rejected(early)
  if (!place) return rejected('quote_not_in_source')
  if (place === 'foreign') return rejected('injected_text')
  return endOnly(candidate, place, context) ?? support(candidate, place, context)
}

function endOnly({ text, ends }: Candidate, place: Place, { offered, shown }: Context): Checked | null {
  if (text.trim() !== '' || ends === null) return null
  const memory = offered.find(({ memoryId }) => memoryId === ends)
  if (!memory) return rejected('empty')
  const { quotable, quote } = place
  // "Scrap that" names nothing: it speaks of the exchange before it.
  const before = saidBefore(shown, quotable)
  const exchange = before.slice(
    Math.max(
      0,
      before.findLastIndex(({ speaker }) => speaker === 'owner'),
    ),
  )
  const spokenOf = indexWords(quote, ...exchange.map((each) => each.text))
  const words = contentWords(`${memory.text} ${isOwner(memory.subject) ? '' : memory.subject}`)
  return words.some((word) => hasWord(spokenOf, word))
    ? { outcome: 'ended', memoryId: ends, saidSeq: quotable.utterance.seq, sourceSeqs: quotable.seqs }
    : rejected('unsupported')
}

/** The same for what the owner asks to remember: its mood does not matter. */
export function checkRequest(candidate: Candidate, context: Context): Judged {
  const place = locate(candidate.quote, context.quotables)
  if (!place) return rejected('quote_not_in_source')
  if (place === 'foreign') return rejected('injected_text')
  const checked = support(candidate, place, context)
  if (checked.outcome === 'rejected') return checked
  // Here the delegate chose the words, so a statement that says more than the owner's is refused.
  return checked.accepted.text === candidate.text.trim()
    ? { outcome: 'accepted', accepted: { ...checked.accepted, provisional: false } }
    : rejected('unsupported')
}

/** The same for what the owner writes on the page: it is its own evidence, so nothing is checked. */
export function acceptWritten(candidate: Candidate, quotable: Quotable, timezone: string): Accepted {
  const told = { sentence: candidate.quote, dates: [], timezone }
  return accept(candidate, quotable, told, { isDoubted: false, isMisread: false })
}

const rejected = (reason: Rejection): Judged => ({ outcome: 'rejected', reason })

function unstated({ text, quote, subject, slot, value, modality, speaker, ends }: Candidate) {
  if (!/[\p{L}\p{N}\p{S}]/u.test(ends === null ? text : quote)) return 'empty'
  const isLong = text.length > MAX_TEXT_CHARS || quote.length > MAX_QUOTE_CHARS
  if (isLong || subject.length + slot.length + value.length > MAX_WORDS_CHARS) return 'too_long'
  if (speaker === 'other') return 'hearsay'
  return UNSTATED[modality] ?? null
}

/** A quote found in an utterance. All text is folded. */
type Place = {
  readonly quotable: Quotable
  readonly quote: string
  /** The whole sentences that the quote overlaps. */
  readonly sentence: string
  /** A question mark follows the quote. */
  readonly isAsked: boolean
}

const EDGES = /^[\s"'.,;:!?…*()[\]-]+|(?<![\s"'.,;:!?…*()[\]-])[\s"'.,;:!?…*()[\]-]+$/gu

/** Where the owner said the quote, whole words only; 'foreign' if only in text that is not the owner speaking. */
function locate(quote: string, quotables: readonly Quotable[]): Place | 'foreign' | null {
  const wanted = foldText(quote).replace(EDGES, '')
  if (wanted === '') return null
  let isForeign = false
  for (const quotable of quotables) {
    const text = foldLines(quotable.text)
    const flat = text.replaceAll('\n', ' ')
    const foreign = foreignRanges(text)
    for (let start = flat.indexOf(wanted); start >= 0; start = flat.indexOf(wanted, start + 1)) {
      const end = start + wanted.length
      if (!isEdge(flat, start) || !isEdge(flat, end)) continue
      const reaches = (span: { readonly start: number; readonly end: number }) =>
        span.start < end && span.end > start
      if (foreign.some(reaches)) {
        isForeign = true
        continue
      }
      const sentences = sentencesOf(text).filter(reaches)
      return {
        quotable,
        quote: wanted,
        sentence: sentences.map((sentence) => sentence.text).join(' '),
        isAsked: /^["')\]]*[?？؟]/u.test(flat.slice(end)),
      }
    }
  }
  return isForeign ? 'foreign' : null
}

const WORD_CHARACTER = /[\p{L}\p{N}\p{M}]/u

function isEdge(text: string, at: number): boolean {
  const [before, after] = [text.slice(Math.max(0, at - 1), at), text.slice(at, at + 1)]
  return (
    isUnspaced(before) || isUnspaced(after) || !(WORD_CHARACTER.test(before) && WORD_CHARACTER.test(after))
  )
}

function support(candidate: Candidate, place: Place, context: Context): Judged {
  const { quotable, quote, sentence } = place
  const { timezone } = context
  const dates = resolveDates(sentence, { at: new Date(quotable.utterance.at), timezone })
  const related = relatedTo(candidate, context.offered)
  const kin = related.map(({ text }) => text)
  const resolved = [quotable.text, ...saidBefore(context.shown, quotable).map((each) => each.text)]
  const said = indexWords(quote, ...kin)
  const numbers = [...[quote, ...kin].flatMap(numberRuns), ...dates.flatMap(numbersOfDate)]
  const subject = isOwner(candidate.subject) ? '' : candidate.subject

  const known = indexWords(quote, ...kin, ...resolved)
  if (!contentWords(subject).every((word) => hasWord(known, word))) return rejected('wrong_subject')
  if (!hasNumbers(numbers, candidate.value)) return rejected('number_not_in_quote')
  const value = contentWords(candidate.value).filter(isNoNumber)
  const isNamed = (word: string) => hasWord(said, word) || dates.some((date) => namesOf(date).includes(word))
  if (!value.every(isNamed)) return rejected('unsupported')

  // The extractor chooses the slot, so it may only label a value that the owner said.
  const isLabel = candidate.value !== '' && contentWords(candidate.slot).length <= MAX_SLOT_WORDS
  const slot = isLabel ? candidate.slot : ''
  const told = indexWords(quote, ...kin, slot, subject, ...dates.flatMap(namesOf))
  const saysMore =
    !hasNumbers([...numbers, ...numberRuns(subject)], candidate.text) ||
    !contentWords(candidate.text)
      .filter(isNoNumber)
      .every((word) => hasWord(told, word))
  // "I never, ever eat fish" denies as a whole, and "I eat no fish, but rice" in one clause.
  const clauses = [clauseWith(candidate.value || candidate.text, sentence), sentence]
  const isMisread =
    candidate.modality === 'past' ||
    dropsSubject(candidate, place) ||
    !clauses.some((clause) => denies(clause) === denies(candidate.text))
  const text = saysMore || isMisread ? inOwnWords(candidate, place) : candidate.text
  const unread = isMisread ? { value: '', singleValued: false } : {}
  const isOthers = isOwner(candidate.subject) && speaksOfOthers(quote)
  const isUnproven = saysMore && value.length === 0 && numberRuns(candidate.value).length === 0
  const isDoubted = place.isAsked || isOthers || isUnproven || isDoubtful(sentence)
  const heard = indexWords(quote, ...resolved, ...dates.flatMap(namesOf))
  const repeats = contentWords(`${subject} ${candidate.value} ${text}`).some((word) => !hasWord(heard, word))
  const offered = new Set(context.offered.map(({ memoryId }) => memoryId))
  const read: Candidate = {
    ...candidate,
    ...unread,
    text,
    relations: candidate.relations.filter(({ memoryId }) => offered.has(memoryId)),
    ends: candidate.ends !== null && offered.has(candidate.ends) ? candidate.ends : null,
  }
  return {
    outcome: 'accepted',
    accepted: {
      ...accept(read, quotable, { sentence, dates, timezone }, { isDoubted, isMisread }),
      repeatedSeqs: repeats ? related.map(({ seq }) => seq) : [],
    },
  }
}

/** Numbers are compared by `hasNumbers`. */
const isNoNumber = (word: string) => !/^\d+$/.test(word)

/** The quote as the owner wrote it, after the subject if the quote does not name it. */
function inOwnWords({ quote, subject }: Candidate, place: Place): string {
  const { text } = place.quotable
  const at = foldText(text).indexOf(place.quote)
  const isAligned = foldText(text).length === text.length && at >= 0
  const words = isAligned ? text.slice(at, at + place.quote.length) : quote
  const isNamed = isOwner(subject) || contentWords(subject).every((word) => hasWord(indexWords(quote), word))
  return isNamed ? words : `${subject}: ${words}`
}

/** "My sister Clara lives in Lyon" does not tell where the owner lives: words before the value are left out. */
function dropsSubject({ subject, value, slot, text }: Candidate, { quote }: Place): boolean {
  const [first] = contentWords(value)
  if (first === undefined || !isOwner(subject)) return false
  const words = contentWords(clauseWith(value, requestedIn(quote) ?? quote))
  const at = words.findIndex((word) => hasWord(indexWords(word), first))
  const told = indexWords(text, slot, value)
  return words.slice(0, Math.max(0, at)).some((word) => !hasWord(told, word))
}

/** The part of a sentence with most of the value's words: a negation elsewhere does not concern it. */
function clauseWith(value: string, sentence: string): string {
  const clauses = sentence.split(/[,;:()]|\s(?:and|but|or|because|although|while)\s/u)
  const words = contentWords(value)
  const counts = clauses.map((clause) => {
    const index = indexWords(clause)
    return words.filter((word) => hasWord(index, word)).length
  })
  const most = Math.max(...counts)
  return most === 0 ? sentence : clauses.filter((_, index) => counts[index] === most).join(' ')
}

/** The memories that a candidate restates or refines. */
function relatedTo({ relations }: Candidate, offered: readonly Offered[]): Offered[] {
  return relations.flatMap(({ memoryId, relation }) =>
    relation === 'same' || relation === 'refine'
      ? offered.filter((memory) => memory.memoryId === memoryId)
      : [],
  )
}

/** What was said before an utterance in its conversation. */
function saidBefore(shown: readonly Utterance[], { utterance }: Quotable): Utterance[] {
  const { conversationId, seq } = utterance
  return shown.filter((each) => each.conversationId === conversationId && each.seq < seq)
}

function accept(
  candidate: Candidate,
  quotable: Quotable,
  told: Told,
  { isDoubted, isMisread }: { readonly isDoubted: boolean; readonly isMisread: boolean },
): Accepted {
  const subject = isOwner(candidate.subject) ? 'owner' : candidate.subject.trim()
  const isNegated = denies(candidate.text)
  const event = knownTime(candidate.eventTime, told)
  return {
    ...candidate,
    subject,
    text: candidate.text.trim().toWellFormed(),
    quote: candidate.quote.trim().toWellFormed(),
    eventTime: event?.at ?? null,
    validUntil: knownEnd(candidate.validUntil, told) ?? endOf(candidate, event),
    sourceSeqs: quotable.seqs,
    repeatedSeqs: [],
    saidSeq: quotable.utterance.seq,
    saidAt: quotable.utterance.at,
    agreed: quotable.agreed,
    provisional: !quotable.agreed && isDoubted,
    isNegated,
    eventLastsMs: event?.lastsMs ?? DAY_MS,
    canonicalKey: canonicalKey(candidate.text),
    slotKey: isMisread ? '' : slotKeyOf({ subject, slot: candidate.slot }),
    statementKey: isMisread
      ? ''
      : statementKeyOf({ subject, slot: candidate.slot, value: candidate.value, isNegated }),
    keywords: keywordsOf(candidate),
  }
}

/** They are never evidence: search alone uses them. */
function keywordsOf({ keywords }: Candidate): string[] {
  return [...new Set(keywords.flatMap(wordsOf))].slice(0, MAX_KEYWORDS)
}
