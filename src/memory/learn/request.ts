import { lexiconOf, occurs } from '../../text/lexicon.ts'
import { foldText, languageOf } from '../../text/text.ts'
import { contentWords, coverage, indexWords } from '../../text/words.ts'
import { type Accepted, assess } from './assess.ts'
import type { Candidate } from './candidate.ts'
import { canonicalKey } from './canonical-key.ts'
import type { Quotable, Utterance } from './evidence.ts'
import type { Rejection } from './gates.ts'
import { agreedSentence, merelyAgrees } from './gates-speaker.ts'
import type { WindowReader } from './window.ts'

/** How far back "remember that" may refer. */
const EARLIER_UTTERANCES = 10
/** Share of the text that must be in the owner's own words. */
const MIN_COVERAGE = 0.6
const MAX_QUOTE_CHARS = 1500

/** Judges what the owner asks to remember. Returns the memory or the reason for refusal. */
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
  // If the rules recognise the statement, their slot lets it replace what it corrects.
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
 * The text to remember, and the words it is based on: the message itself, an earlier one, or a sentence of
 * the delegate's that the message refers to. Null if none of them contains it, as it may come from a note, a
 * result or another person.
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
 * Whether a message only refers to what precedes it: "remember that", "yes". A short question does not: it
 * must not turn the delegate's words into the owner's.
 */
function pointsBack({ text }: Utterance): boolean {
  if (contentWords(text).length > 3) return false
  const lexicon = lexiconOf(languageOf(text))
  return merelyAgrees(text, lexicon) || occurs(lexicon.remembering, foldText(text))
}
