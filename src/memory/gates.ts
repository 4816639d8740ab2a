import type { Candidate, Relation } from './candidate.ts'
import { type Evidence, locate, type Quotable, stands, type Utterance } from './evidence.ts'
import { asksToRemember } from './foreign-text.ts'
import { askedNotSaid, deniedOtherwise, inJest, losesModality, onlyImagined } from './gates-modality.ts'
import { askedToForget, hearsay, wrongSubject } from './gates-speaker.ts'
import { inventedName, inventedNumber, unsupported } from './gates-words.ts'

/** Why a candidate did not become a memory. */
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

/** A memory that whoever extracted was shown, to say how the candidate stands to it. */
export type Offered = { readonly memoryId: string; readonly text: string; readonly storedSeq: number }

/** What a candidate is judged by. */
export type Court = {
  readonly quotables: readonly Quotable[]
  /** Everything that was shown, quotable or not: to tell a wrong speaker from words that nobody said. */
  readonly shown: readonly Utterance[]
  readonly offered: readonly Offered[]
  readonly timezone: string
}

export type Verdict = { readonly evidence: Evidence } | { readonly rejection: Rejection }

const MAX_TEXT_CHARS = 1000
const MAX_QUOTE_CHARS = 2000
const MAX_WORDS_CHARS = 400

/**
 * Whether a candidate may become a memory, whoever extracted it: its words must be the owner's, said as a fact, and
 * it must say no more than they do. A quote that stands in several places needs one where all gates are open.
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
 * Whether what the owner asks to be remembered may be, in the words of whoever heard it: how it was said does not
 * matter then, but it must be the owner who says it, and no more than that.
 */
export function judgeRequest(candidate: Candidate, court: Court): Verdict {
  const early = malformed(candidate)
  if (early !== null) return { rejection: early }
  const kin: readonly string[] = []
  let first: Rejection | null = null
  for (const evidence of locate(candidate.quote, court.quotables)) {
    const words = { kin, timezone: court.timezone }
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

/** The gates of one place, in their order. */
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

/** Says nothing, or far too much. */
export function malformed({ text, quote, subject, slot, value }: Candidate): Rejection | null {
  if (!/[\p{L}\p{N}\p{S}]/u.test(text) || !/[\p{L}\p{N}\p{S}]/u.test(quote)) return 'empty'
  const tooLong =
    text.length > MAX_TEXT_CHARS ||
    quote.length > MAX_QUOTE_CHARS ||
    subject.length + slot.length + value.length > MAX_WORDS_CHARS * 3
  return tooLong ? 'too_long' : null
}

/** Related to a memory that was not shown: made up, or of somebody else. */
function foreignRelation(candidate: Candidate, offered: readonly Offered[]): Rejection | null {
  const known = new Set(offered.map(({ memoryId }) => memoryId))
  return candidate.relations.every(({ memoryId }) => known.has(memoryId)) ? null : 'foreign_relation'
}

/** Quoted from what the owner pasted, quoted or wants worked on. */
export function foreignText({ foreign, quote }: Evidence): Rejection | null {
  return foreign.find(({ start, end }) => start < quote.end && end > quote.start)?.reason ?? null
}

function unquotable(candidate: Candidate, shown: readonly Utterance[]): Rejection {
  const isOthers = shown.some(({ speaker, text }) => speaker === 'delegate' && stands(candidate.quote, text))
  return isOthers ? 'speaker_not_owner' : 'quote_not_in_source'
}

const KIN: ReadonlySet<Relation> = new Set(['same', 'refine'])

/** The texts of the memories that a candidate restates or refines: the owner said those words too, before. */
function kinOf(candidate: Candidate, offered: readonly Offered[]): string[] {
  return candidate.relations.flatMap(({ memoryId, relation }) =>
    KIN.has(relation) ? (offered.find((memory) => memory.memoryId === memoryId)?.text ?? []) : [],
  )
}
