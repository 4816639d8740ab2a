import { type Accepted, assess } from './assess.ts'
import type { Candidate } from './candidate.ts'
import { canonicalKey } from './canonical-key.ts'
import type { Quotable, Utterance } from './evidence.ts'
import type { Rejection } from './gates.ts'
import { agreedSentence, merelyAgrees } from './gates-speaker.ts'
import { lexiconOf, occurs } from './language/lexicon.ts'
import { foldText, languageOf } from './language/text.ts'
import { contentWords, coverage, indexWords } from './language/words.ts'
import type { WindowReader } from './window.ts'

/** How far back "remember that" may point. */
const EARLIER_UTTERANCES = 10
/** So much of what is to be remembered must be the owner's own words. */
const MIN_COVERAGE = 0.6
const MAX_QUOTE_CHARS = 1500

/** Judges what the owner asks to be remembered: as it is to be kept, or why it is not. */
export function acceptRequest(
  text: string,
  messageSeq: number,
  { windows, timezone }: { readonly windows: WindowReader; readonly timezone: string },
): Accepted | Rejection {
  const request = requestFrom(text, messageSeq, { windows })
  if (!request) return 'unsupported'
  const court = {
    quotables: [request.quotable],
    shown: [request.quotable.utterance],
    offered: [],
    timezone,
  }
  const [judged] = assess({ ...court, candidates: [request.candidate], isRequest: true })
  if (!judged) return 'unsupported'
  if (judged.outcome === 'rejected') return judged.reason
  // Rules may tell what kind of statement it is; then it takes the place of what it corrects.
  const read = assess({
    ...court,
    quotables: [{ ...request.quotable, text, agreed: false, next: null }],
    candidates: null,
  })
  const typed = read.find(
    (each) => each.outcome === 'accepted' && each.accepted.canonicalKey === canonicalKey(text),
  )
  if (typed?.outcome !== 'accepted') return judged.accepted
  const {
    kind,
    subject,
    slot,
    value,
    singleValued,
    eventTime,
    validUntil,
    slotKey,
    statementKey,
    isNegated,
  } = typed.accepted
  return {
    ...judged.accepted,
    kind,
    subject,
    slot,
    value,
    singleValued,
    eventTime,
    validUntil,
    slotKey,
    statementKey,
    isNegated,
  }
}

/**
 * What the owner asks to be remembered, with the words that it rests on: those of the message itself, of one before
 * it, or of a sentence of the delegate's that the message points at. Null where nobody said it: a note, a result or
 * somebody else may have.
 */
function requestFrom(
  text: string,
  messageSeq: number,
  { windows }: { readonly windows: WindowReader },
): { readonly candidate: Candidate; readonly quotable: Quotable } | null {
  const message = windows.utteranceAt(messageSeq)
  if (message?.speaker !== 'owner') return null
  const words = contentWords(text)
  const earlier = windows.before(message.conversationId, messageSeq, EARLIER_UTTERANCES)
  const quotables: Quotable[] = [
    quotableOf(message.text, message, [message.seq]),
    ...earlier
      .filter(({ speaker }) => speaker === 'owner')
      .reverse()
      .map((utterance) => quotableOf(utterance.text, utterance, [utterance.seq, message.seq])),
  ]
  const last = earlier.at(-1)
  const pointedAt = last?.speaker === 'delegate' && pointsBack(message) ? agreedSentence(last.text) : null
  if (last && pointedAt !== null) {
    quotables.push({
      text: pointedAt,
      utterance: message,
      seqs: [last.seq, message.seq],
      agreed: true,
      next: null,
    })
  }
  const quotable = quotables.find((each) => coverage(indexWords(each.text), words) >= MIN_COVERAGE)
  if (!quotable) return null
  return {
    quotable,
    candidate: {
      kind: 'episode',
      subject: 'owner',
      slot: '',
      value: '',
      text,
      quote: quotable.text.slice(0, MAX_QUOTE_CHARS).toWellFormed(),
      singleValued: false,
      eventTime: null,
      validUntil: null,
      relations: [],
    },
  }
}

function quotableOf(text: string, utterance: Utterance, seqs: readonly number[]): Quotable {
  return { text, utterance, seqs: [...seqs].sort((a, b) => a - b), agreed: false, next: null }
}

/**
 * Whether a message says next to nothing itself and asks for what stands before it, or agrees to it: "remember that",
 * "yes". Being short is not enough: a short question makes nobody else's words the owner's.
 */
function pointsBack({ text }: Utterance): boolean {
  if (contentWords(text).length > 3) return false
  const lexicon = lexiconOf(languageOf(text))
  return merelyAgrees(text, lexicon) || occurs(lexicon.remembering, foldText(text))
}
