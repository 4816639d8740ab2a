import type { LedgerReader } from '../../../ledger/reader.ts'
import type { UtteranceQueries, UtteranceRow } from '../../../projections/utterances.ts'
import { lexiconOf } from '../../text/lexicon.ts'
import { languageOf } from '../../text/text.ts'
import { contentWords } from '../../text/words.ts'
import type { Quotable, Utterance } from './evidence.ts'
import { agreedSentence, merelyAgrees } from './gates-speaker.ts'
import { saidWords } from './said-words.ts'

/** The input of one extraction: what to read, what may be quoted, and the context. */
export type Window = {
  /** The owner's utterances to read, oldest first, including barred and erased ones. */
  readonly readSeqs: readonly number[]
  readonly quotables: readonly Quotable[]
  readonly shown: readonly Utterance[]
}

const CONTEXT_UTTERANCES = 6
const MAX_READ_CHARS = 12_000
/** Longer messages are cut to this length. */
const MAX_UTTERANCE_CHARS = 20_000

export type WindowReader = {
  /** The next window of unread utterances; null if there are none. */
  next(limit: number): Window | null
  /** One utterance with its text; null if erased, barred or not an utterance. */
  utteranceAt(seq: number): Utterance | null
  /** Utterances before `seq` in its conversation, oldest first. */
  before(conversationId: string | null, seq: number, limit: number): Utterance[]
  /** At most `limit` of the owner's utterances among the last `2 * limit` before `seq`. */
  ownersBefore(conversationId: string | null, seq: number, limit: number): Utterance[]
}

/** Reads utterances from the ledger, leaving out barred and erased ones. */
export function createWindowReader(options: {
  readonly ledger: LedgerReader
  readonly utterances: UtteranceQueries
  readonly isBarred: (seq: number) => boolean
}): WindowReader {
  const { ledger, utterances, isBarred } = options

  function utteranceAt(seq: number): Utterance | null {
    const row = utterances.bySeq(seq)
    return row ? withWords(row) : null
  }

  function withWords(row: UtteranceRow): Utterance | null {
    if (isBarred(row.seq)) return null
    const [event] = ledger.readSeqs([row.seq])
    const text = event && event.type !== 'unknown' ? saidWords(event) : null
    if (!event || text === null || text.trim() === '') return null
    const { seq, at, channel, conversationId, spanId, turnId } = event
    return {
      seq,
      at,
      channel,
      conversationId,
      spanId,
      turnId,
      speaker: row.speaker,
      text: text.slice(0, MAX_UTTERANCE_CHARS).toWellFormed(),
    }
  }

  const before = (conversationId: string | null, seq: number, limit: number) =>
    utterances.before(conversationId, seq, limit).flatMap((row) => withWords(row) ?? [])

  /** The owner's own words, and the delegate's sentence that they merely agree to. */
  function quotablesOf(utterance: Utterance, shown: readonly Utterance[]): Quotable[] {
    const { conversationId, seq } = utterance
    const nextRow = utterances.ownersNext(conversationId, seq)
    const next = nextRow ? (withWords(nextRow)?.text ?? null) : null
    const own: Quotable = { text: utterance.text, utterance, seqs: [seq], agreed: false, next }
    const said = shown.findLast((other) => other.seq < seq && other.conversationId === conversationId)
    if (said?.speaker !== 'delegate') return [own]
    const languages = [languageOf(utterance.text), languageOf(said.text)]
    if (!languages.some((language) => merelyAgrees(utterance.text, lexiconOf(language)))) return [own]
    const sentence = agreedSentence(said.text)
    if (sentence === null || !saysSomething(sentence)) return [own]
    return [own, { text: sentence, utterance, seqs: [said.seq, seq], agreed: true, next }]
  }

  return {
    utteranceAt,
    before,
    ownersBefore: (conversationId, seq, limit) =>
      utterances
        .before(conversationId, seq, limit * 2)
        .filter(({ speaker }) => speaker === 'owner')
        .flatMap((row) => withWords(row) ?? [])
        .slice(-limit),
    next(limit) {
      const rows = utterances.readable(limit)
      const [first] = rows
      if (!first) return null
      // Stop at the end of the conversation, and at what fits into one request.
      const read: { row: UtteranceRow; utterance: Utterance | null }[] = []
      let chars = 0
      for (const row of rows) {
        if (row.conversationId !== first.conversationId) break
        const utterance = withWords(row)
        chars += utterance?.text.length ?? 0
        if (read.length > 0 && chars > MAX_READ_CHARS) break
        read.push({ row, utterance })
      }
      const last = read.at(-1)?.row.seq ?? first.seq
      const between = utterances
        .before(first.conversationId, last, limit * 3)
        .filter(({ seq }) => seq > first.seq)
      const spoken = new Map([
        ...before(first.conversationId, first.seq, CONTEXT_UTTERANCES).map(
          (each) => [each.seq, each] as const,
        ),
        ...between.flatMap((row) => {
          const utterance = withWords(row)
          return utterance ? [[row.seq, utterance] as const] : []
        }),
        ...read.flatMap(({ utterance }) => (utterance ? [[utterance.seq, utterance] as const] : [])),
      ])
      const shown = [...spoken.values()].sort((a, b) => a.seq - b.seq)
      const quotables = read.flatMap(({ utterance }) => (utterance ? quotablesOf(utterance, shown) : []))
      return { readSeqs: read.map(({ row }) => row.seq), quotables, shown }
    },
  }
}

const MIN_STATEMENT_WORDS = 3

/** Whether a sentence says something to agree to: a question, or more than "All right". */
function saysSomething(sentence: string): boolean {
  return /[?？؟;]["'”’»)\]]*$/u.test(sentence) || contentWords(sentence).length >= MIN_STATEMENT_WORDS
}
