import type { LedgerEvent } from '../../../ledger/event.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import type { UtteranceQueries, UtteranceRow } from '../../../projections/utterances.ts'
import { contentWords } from '../../text/words.ts'
import { agreedSentence, asksToRemember, merelyAgrees } from './cues.ts'
import { ownSaidWords, saidWords } from './said-words.ts'

export type Utterance = Pick<
  LedgerEvent,
  'seq' | 'at' | 'channel' | 'conversationId' | 'spanId' | 'turnId'
> & {
  readonly speaker: 'owner' | 'delegate'
  readonly text: string
  /** The owner keeps it after all: a wish not to keep it no longer counts. */
  readonly isKept: boolean
  /** Whether it may hold words of others: a reply that read some, and all that was not typed in the chat. */
  readonly isForeign?: boolean
}

/** Words that a memory may quote: the owner's, or a delegate's sentence that the owner agreed to. */
export type Quotable = {
  readonly text: string
  /** The owner's utterance: the words themselves, or the agreement. */
  readonly utterance: Utterance
  /** The source events of a memory that quotes it. */
  readonly seqs: readonly number[]
  readonly agreed: boolean
}

/** The input of one extraction: what to read, what may be quoted, and the context. */
export type Window = {
  /** The owner's utterances to read, oldest first, including barred and erased ones. */
  readonly readSeqs: readonly number[]
  readonly quotables: readonly Quotable[]
  readonly shown: readonly Utterance[]
  /** Unique to this reading: a message that is kept after all is read again. */
  readonly key: string
}

/** The key of the fact that the owner keeps a message after all. */
export const keptKey = (seq: number) => `memory-kept:${seq}`

const CONTEXT_UTTERANCES = 6
const MIN_STATEMENT_WORDS = 3
const MAX_READ_CHARS = 12_000
/** Longer messages are cut to this length. */
const MAX_UTTERANCE_CHARS = 20_000

export type WindowReader = ReturnType<typeof createWindowReader>

/** Reads utterances from the ledger, leaving out barred and erased ones. */
export function createWindowReader(options: {
  readonly ledger: LedgerReader
  readonly utterances: UtteranceQueries
  /** Whether the delegate must not look at an event. */
  readonly isHidden: (event: Pick<LedgerEvent, 'seq' | 'derivedFrom'>) => boolean
}) {
  const { ledger, utterances, isHidden } = options
  const isKept = (seq: number) => ledger.rowByKey(keptKey(seq)) !== undefined

  /** One utterance with its text; null if erased, barred or not an utterance. */
  function utteranceAt(seq: number): Utterance | null {
    const row = utterances.bySeq(seq)
    return row ? withWords(row) : null
  }

  /** The same with what the owner pasted, if the typed words ask to remember it. */
  function requestAt(seq: number): Utterance | null {
    const typed = utteranceAt(seq)
    const row = utterances.bySeq(seq)
    return typed && row && asksToRemember(typed.text) ? withWords(row, saidWords) : typed
  }

  /** Without pasted words, which may be anybody's. */
  function withWords(row: UtteranceRow, wordsOf = ownSaidWords): Utterance | null {
    const [event] = ledger.readSeqs([row.seq])
    if (!event || event.type === 'unknown' || isHidden(event)) return null
    const text = wordsOf(event)
    if (text === null || text.trim() === '') return null
    const { seq, at, channel, conversationId, spanId, turnId } = event
    return {
      seq,
      at,
      channel,
      conversationId,
      spanId,
      turnId,
      speaker: row.speaker,
      isKept: isKept(seq),
      isForeign: !isOwnWords(event),
      text: text.slice(0, MAX_UTTERANCE_CHARS).toWellFormed(),
    }
  }

  /** Utterances before `seq` in its conversation, oldest first. */
  const before = (conversationId: string | null, seq: number, limit: number): Utterance[] =>
    utterances.before(conversationId, seq, limit).flatMap((row) => withWords(row) ?? [])

  /** The owner's own words, and the delegate's sentence that they merely agree to, unless it may repeat others. */
  function quotablesOf(utterance: Utterance, shown: readonly Utterance[]): Quotable[] {
    const { conversationId, seq } = utterance
    const own: Quotable = { text: utterance.text, utterance, seqs: [seq], agreed: false }
    const said = shown.findLast((other) => other.seq < seq && other.conversationId === conversationId)
    if (said?.speaker !== 'delegate' || said.isForeign || !merelyAgrees(utterance.text)) return [own]
    const sentence = agreedSentence(said.text)
    return sentence === null || !saysSomething(sentence)
      ? [own]
      : [own, { text: sentence, utterance, seqs: [said.seq, seq], agreed: true }]
  }

  return {
    utteranceAt,
    requestAt,
    before,
    /** At most `limit` of the owner's utterances among the last `2 * limit` before `seq`. */
    ownersBefore: (conversationId: string | null, seq: number, limit: number): Utterance[] =>
      utterances
        .before(conversationId, seq, limit * 2)
        .filter(({ speaker }) => speaker === 'owner')
        .flatMap((row) => withWords(row) ?? [])
        .slice(-limit),
    /** The next window of unread utterances; null if there are none. */
    next(limit: number): Window | null {
      const rows = utterances.readable(limit)
      const [first] = rows
      if (!first) return null
      // Stop at the end of the conversation, at what fits into one request, and between typed words and others.
      const read: { row: UtteranceRow; utterance: Utterance | null }[] = []
      let chars = 0
      let isForeign: boolean | undefined
      for (const row of rows) {
        if (row.conversationId !== first.conversationId) break
        const utterance = withWords(row)
        if (utterance && utterance.isForeign !== (isForeign ?? utterance.isForeign)) break
        isForeign ??= utterance?.isForeign
        chars += utterance?.text.length ?? 0
        if (read.length > 0 && chars > MAX_READ_CHARS) break
        read.push({ row, utterance })
      }
      const last = read.at(-1)?.row.seq ?? first.seq
      const said = before(first.conversationId, last + 1, CONTEXT_UTTERANCES + 3 * read.length)
      // A memory learned from typed words has the owner's authority, so the extractor must not read words of others.
      const shown = said.filter((each) => isForeign || !each.isForeign)
      const isShown = ({ seq }: Utterance) => shown.some((each) => each.seq === seq)
      return {
        readSeqs: read.map(({ row }) => row.seq),
        quotables: read.flatMap(({ utterance }) =>
          utterance && isShown(utterance) ? quotablesOf(utterance, said) : [],
        ),
        shown,
        key: `extraction:${last}${isKept(last) ? ':kept' : ''}`,
      }
    },
  }
}

/** Without pasted parts, which no utterance has. */
const isOwnWords = ({ type, facts }: LedgerEvent) =>
  type === 'chat.message.received'
    ? facts.spoken !== true
    : (type === 'chat.reply.sent' || type === 'chat.reply.stopped') && facts.foreign === false

/** Whether a sentence says something to agree to: a question, or more than "All right". */
function saysSomething(sentence: string): boolean {
  return /\?["'”’»)\]]*$/u.test(sentence) || contentWords(sentence).length >= MIN_STATEMENT_WORDS
}
