import { asksNotToKeep } from '../../text/secrecy.ts'
import { sentencesOf } from '../../text/text.ts'
import { contentWords, coverage, hasWord, indexWords } from '../../text/words.ts'
import { canonicalKey } from './canonical-key.ts'
import { type Accepted, type Context, check, checkRequest, type Rejection } from './checks.ts'
import { agreedSentence, asksToRemember, hasPronoun, merelyAgrees, requestedIn } from './cues.ts'
import { plain, readPlainly } from './patterns.ts'
import type { Quotable, Utterance, WindowReader } from './window.ts'

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
  const message = windows.requestAt(messageSeq)
  if (message?.speaker !== 'owner') return 'unsupported'
  if (!message.isKept && asksNotToKeep(windows.utteranceAt(messageSeq)?.text ?? '')) return 'not_to_keep'
  const earlier = windows.before(message.conversationId, messageSeq, EARLIER_UTTERANCES)
  const quotable = sourceOf(text, message, earlier)
  if (!quotable) return 'unsupported'
  const own = earlier.filter(({ speaker }) => speaker === 'owner')
  const context = { quotables: [quotable], shown: [...own, message], offered: [], timezone }
  const quote = quoteFor(text, quotable.text)
  const subject = hasPronoun(quote) ? subjectBeyond(quotable.text, text) : ''
  const statement = subject === '' ? text : `${subject}: ${requestedIn(quote) ?? quote}`
  const asked = checkRequest({ ...plain(statement), quote, ...(subject && { subject }) }, context)
  if (asked.outcome === 'rejected') return asked.reason
  return withSlot(asked.accepted, statement, quotable, context)
}

/** The same with what a pattern reads from the text, if one does. Its slot lets it replace what it corrects. */
export function withSlot(asked: Accepted, text: string, quotable: Quotable, context: Context): Accepted {
  const { at } = quotable.utterance
  const candidate = readPlainly(text, { at, timezone: context.timezone }).find(
    (each) => each.slot !== '' && canonicalKey(each.text) === canonicalKey(text),
  )
  if (!candidate) return asked
  const quotables = [{ ...quotable, text, agreed: false }]
  const checked = check(candidate, { ...context, quotables })
  if (checked.outcome !== 'accepted') return asked
  const { text: stated, quote, canonicalKey: key, agreed, provisional } = asked
  return { ...checked.accepted, text: stated, quote, canonicalKey: key, agreed, provisional }
}

/**
 * The words that the text to remember is based on: the message itself, an earlier one, or a sentence of the
 * delegate's that the message refers to and that repeats nobody else. Null if none of them contains it, as it may
 * come from a note, a result or another person.
 */
function sourceOf(text: string, message: Utterance, earlier: readonly Utterance[]): Quotable | null {
  const own = earlier.filter(({ speaker }) => speaker === 'owner').reverse()
  const quotables: Quotable[] = [message, ...own].map((utterance) => ({
    text: utterance.text,
    utterance,
    seqs: [...new Set([utterance.seq, message.seq])],
    agreed: false,
  }))
  const last = earlier.at(-1)
  const isOwnReply = last?.speaker === 'delegate' && !last.isForeign
  const sentence = isOwnReply && pointsBack(message) ? agreedSentence(last.text) : null
  if (last && sentence !== null)
    quotables.push({ text: sentence, utterance: message, seqs: [last.seq, message.seq], agreed: true })
  const words = contentWords(text)
  return quotables.find((each) => coverage(indexWords(each.text), words) >= MIN_COVERAGE) ?? null
}

/** The sentences of the source from the first to the last with a word of the text. */
function quoteFor(text: string, source: string): string {
  const words = contentWords(text)
  const about = sentencesOf(source).filter((sentence) => coverage(indexWords(sentence.text), words) > 0)
  const whole = source.slice(about[0]?.start ?? 0, about.at(-1)?.end)
  return whole.slice(0, MAX_QUOTE_CHARS).toWellFormed()
}

/**
 * The words of the text that its source lacks, such as the name for "she". An earlier message must contain them. The
 * memory is these words and then the owner's own, because a model may have changed more than the pronoun.
 */
function subjectBeyond(source: string, text: string): string {
  const index = indexWords(source)
  const absent = new Set(contentWords(text).filter((word) => !/\d/.test(word) && !hasWord(index, word)))
  const words = text.match(/[\p{L}\p{M}]+/gu) ?? []
  return words.filter((word) => contentWords(word).some((each) => absent.has(each))).join(' ')
}

/**
 * Whether a message only refers to what precedes it: "remember that", "yes". A short question does not: it
 * must not turn the delegate's words into the owner's.
 */
function pointsBack({ text }: Utterance): boolean {
  return merelyAgrees(text) || (contentWords(text).length <= 3 && asksToRemember(text))
}
