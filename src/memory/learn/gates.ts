import type { Candidate, Relation } from './candidate.ts'
import { type Evidence, locate, type Quotable, stands, type Utterance } from './evidence.ts'
import { asksToRemember } from './foreign-text.ts'
import { askedNotSaid, deniedOtherwise, inJest, losesModality, onlyImagined } from './gates-modality.ts'
import { askedToForget, hearsay, wrongSubject } from './gates-speaker.ts'
import { inventedName, inventedNumber, unsupported } from './gates-words.ts'

export type Rejection =
  | 'empty'
  | 'too_long'
  | 'quote_not_in_source'
  | 'speaker_not_owner'
  | 'foreign_relation'
  | 'injected_text'
  | 'dictated_text'
  | 'asked_to_forget'
  | 'question'
  | 'hypothetical'
  | 'uncertain'
  | 'past'
  | 'future'
  | 'tense'
  | 'negation'
  | 'joke'
  | 'hearsay'
  | 'wrong_subject'
  | 'number_not_in_quote'
  | 'name_not_in_quote'
  | 'unsupported'

/** A memory offered to the extractor, so that it can relate candidates to it. */
export type Offered = { readonly memoryId: string; readonly text: string; readonly storedSeq: number }

/** The context in which a candidate is judged. */
export type Court = {
  readonly quotables: readonly Quotable[]
  /** Everything shown, quotable or not. It distinguishes a wrong speaker from an invented quote. */
  readonly shown: readonly Utterance[]
  readonly offered: readonly Offered[]
  readonly timezone: string
}

export type Verdict = { readonly evidence: Evidence } | { readonly rejection: Rejection }

const MAX_TEXT_CHARS = 1000
const MAX_QUOTE_CHARS = 2000
const MAX_WORDS_CHARS = 400

/**
 * Judges a candidate from any extractor: the owner must have said it as a fact, and it must say no more than
 * that. One occurrence of the quote that passes all gates is enough.
 */
export function judge(candidate: Candidate, court: Court): Verdict {
  const early = malformed(candidate) ?? foreignRelation(candidate, court.offered)
  if (early !== null) return { rejection: early }
  let first: Rejection | null = null
  for (const evidence of locate(candidate.quote, court.quotables)) {
    const rejection = rejectionOf(candidate, evidence, court)
    if (rejection === null) return { evidence }
    first ??= rejection
  }
  return { rejection: first ?? unquotable(candidate, court.shown) }
}

/**
 * Judges what the owner asks to remember. Modality does not matter here, but the owner must have said it, and
 * it must say no more than that.
 */
export function judgeRequest(candidate: Candidate, court: Court): Verdict {
  const early = malformed(candidate)
  if (early !== null) return { rejection: early }
  let first: Rejection | null = null
  for (const evidence of locate(candidate.quote, court.quotables)) {
    const words = { kin: [], timezone: court.timezone }
    const rejection =
      (asksToRemember(evidence.text) ? null : foreignText(evidence)) ??
      (deniedOtherwise(candidate, evidence) ? 'negation' : null) ??
      (inventedNumber(candidate, evidence, words) ? 'number_not_in_quote' : null) ??
      (inventedName(candidate, evidence, words) ? 'name_not_in_quote' : null) ??
      (unsupported(candidate, evidence, words) ? 'unsupported' : null)
    if (rejection === null) return { evidence }
    first ??= rejection
  }
  return { rejection: first ?? unquotable(candidate, court.shown) }
}

/** The gates for one occurrence of the quote, in order. */
function rejectionOf(candidate: Candidate, evidence: Evidence, court: Court): Rejection | null {
  const kin = kinOf(candidate, court.offered)
  return (
    foreignText(evidence) ??
    (askedToForget(evidence) ? 'asked_to_forget' : null) ??
    (askedNotSaid(evidence) ? 'question' : null) ??
    (onlyImagined(candidate, evidence) ? 'hypothetical' : null) ??
    (inJest(evidence) ? 'joke' : null) ??
    (hearsay(candidate, evidence) ? 'hearsay' : null) ??
    (wrongSubject(candidate, evidence) ? 'wrong_subject' : null) ??
    (deniedOtherwise(candidate, evidence) ? 'negation' : null) ??
    losesModality(candidate, evidence) ??
    (inventedNumber(candidate, evidence, { kin, timezone: court.timezone }) ? 'number_not_in_quote' : null) ??
    (inventedName(candidate, evidence, { kin, timezone: court.timezone }) ? 'name_not_in_quote' : null) ??
    (unsupported(candidate, evidence, { kin, timezone: court.timezone }) ? 'unsupported' : null)
  )
}

export function malformed({ text, quote, subject, slot, value }: Candidate): Rejection | null {
  if (!/[\p{L}\p{N}\p{S}]/u.test(text) || !/[\p{L}\p{N}\p{S}]/u.test(quote)) return 'empty'
  const tooLong =
    text.length > MAX_TEXT_CHARS ||
    quote.length > MAX_QUOTE_CHARS ||
    subject.length + slot.length + value.length > MAX_WORDS_CHARS * 3
  return tooLong ? 'too_long' : null
}

/** Related to a memory that was not offered, and so is invented. */
function foreignRelation(candidate: Candidate, offered: readonly Offered[]): Rejection | null {
  const known = new Set(offered.map(({ memoryId }) => memoryId))
  return candidate.relations.every(({ memoryId }) => known.has(memoryId)) ? null : 'foreign_relation'
}

/** The quote overlaps text that the owner pasted, quoted or wants worked on. */
export function foreignText({ foreign, quote }: Evidence): Rejection | null {
  return foreign.find(({ start, end }) => start < quote.end && end > quote.start)?.reason ?? null
}

function unquotable(candidate: Candidate, shown: readonly Utterance[]): Rejection {
  const isOthers = shown.some(({ speaker, text }) => speaker === 'delegate' && stands(candidate.quote, text))
  return isOthers ? 'speaker_not_owner' : 'quote_not_in_source'
}

const KIN: ReadonlySet<Relation> = new Set(['same', 'refine'])

/** Texts of the memories that a candidate restates or refines. The owner said those words before. */
function kinOf(candidate: Candidate, offered: readonly Offered[]): string[] {
  return candidate.relations.flatMap(({ memoryId, relation }) =>
    KIN.has(relation) ? (offered.find((memory) => memory.memoryId === memoryId)?.text ?? []) : [],
  )
}
