import type { Database } from 'better-sqlite3'
import type { LedgerReader } from '../../../ledger/reader.ts'
import { createMemoryQueries, type MemoryRow, mentionsOf } from '../../../projections/memory-queries.ts'
import { wordsOf } from '../../../projections/recall-text.ts'
import { createUtteranceQueries } from '../../../projections/utterances.ts'
import { numberRuns } from '../../text/numbers.ts'
import { sentencesOf } from '../../text/text.ts'
import { contentWords } from '../../text/words.ts'
import { canonicalKey } from '../learn/canonical-key.ts'
import { saidWords } from '../learn/said-words.ts'

/** What is to be forgotten. */
export type Chosen = { readonly memoryIds: readonly string[]; readonly messageSeqs: readonly number[] }

/** What forgetting memories and messages starts from. */
export type Forgettable = {
  readonly versions: readonly { readonly memoryId: string; readonly storedSeq: number }[]
  /** The chosen messages, all words of which are forgotten. */
  readonly messageSeqs: readonly number[]
  /** Texts of the versions and the messages, to recognise quotations. */
  readonly texts: readonly string[]
  /** The owner's messages that state it. */
  readonly saidSeqs: readonly number[]
  /** `saidSeqs`, and replies that repeat it. The delegate must not read them again. */
  readonly barredSeqs: readonly number[]
}

/** Shorter numbers match by coincidence. */
const MIN_DIGITS = 4
/** Many messages share a year. As the whole value, it is a code. */
const YEAR = /^(?:19|20)\d\d$/
/** What a sentence may say besides. A memory of two words gets one. */
const MAX_OTHER_WORDS = 2
/** Enough to find what may repeat a text. */
const MAX_WORDS = 8
/** Maximum matches; more means that the words are too common. */
const MENTIONS = 200

/**
 * Finds everything that states the chosen memories and messages, with the memories learned from the messages.
 * Null if there is nothing left to forget. Runs in the query thread, once the search index is caught up.
 */
export function createForgettable(views: Database, ledger: LedgerReader) {
  const queries = createMemoryQueries(views)
  const utterances = createUtteranceQueries(views)

  /** The memories and all versions that they replaced, which would otherwise remain, unseen. */
  function versionsOf(memories: readonly MemoryRow[]): MemoryRow[] {
    const versions = new Map(memories.map((memory) => [memory.memoryId, memory]))
    for (const known of versions.values()) {
      for (const older of queries.predecessors(known.memoryId)) versions.set(older.memoryId, older)
    }
    return [...versions.values()]
  }

  const isOwners = (seq: number) => utterances.bySeq(seq)?.speaker === 'owner'
  const mentions = (words: readonly string[], numbers: readonly string[] = []) =>
    mentionsOf(views, { words, numbers, limit: MENTIONS })

  /** Utterances with a sentence that says it and little else, or that quote the owner's words. Others only look alike. */
  function repetitionsOf(text: string, quote: string): number[] {
    const [key, run, words] = [canonicalKey(text), runOf(quote), contentWords(text)]
    const says = (sentence: string) => {
      const said = contentWords(sentence)
      const isShort = said.length <= words.length + Math.min(MAX_OTHER_WORDS, words.length - 1)
      return canonicalKey(sentence) === key || (isShort && words.every((word) => said.includes(word)))
    }
    const find = (words: string, repeats: (said: string) => boolean) =>
      ledger
        .readSeqs(ascending(mentions(contentWords(words).slice(0, MAX_WORDS))))
        .flatMap((event) => (repeats(saidWords(event) ?? '') ? [event.seq] : []))
    return [
      ...find(text, (said) => sentencesOf(said).some((sentence) => says(sentence.text))),
      ...find(quote, (said) => runOf(said).includes(run)),
    ]
  }

  function mentionsIn({ text, quote, value }: MemoryRow): number[] {
    const numbers = numberRuns(value || (text ?? '')).flat()
    const telling = numbers.filter(
      (each) => each.length >= MIN_DIGITS && (!value || each === value || !YEAR.test(each)),
    )
    return [...repetitionsOf(text ?? '', quote ?? ''), ...mentions([], telling)]
  }

  return ({ memoryIds, messageSeqs }: Chosen): Forgettable | null => {
    const messages = ledger.readSeqs(ascending(messageSeqs.filter(isOwners))).flatMap((event) => {
      const text = saidWords(event)
      return text === null ? [] : [{ seq: event.seq, text }]
    })
    // What the owner wrote in place of a memory derives from it, and goes with it.
    const learned = messages.flatMap(({ seq }) => [...queries.bySource(seq), ...queries.editedFrom(seq)])
    const versions = versionsOf([...memoryIds.flatMap((id) => queries.byId(id) ?? []), ...learned])
    if (versions.length + messages.length === 0) return null
    const barredSeqs = ascending([
      ...versions.flatMap((version) => [...queries.sources(version.memoryId), ...mentionsIn(version)]),
      ...messages.flatMap(({ seq, text }) => [seq, ...repetitionsOf(text, text)]),
    ])
    return {
      versions: versions.map(({ memoryId, storedSeq }) => ({ memoryId, storedSeq })),
      messageSeqs: messages.map(({ seq }) => seq),
      texts: [
        ...versions.flatMap(({ text, value }) => [text ?? '', value ?? '']),
        ...messages.map(({ text }) => text),
      ],
      saidSeqs: barredSeqs.filter(isOwners),
      barredSeqs,
    }
  }
}

/** The words of a text in order. */
const runOf = (text: string) => ` ${wordsOf(text).join(' ')} `

function ascending(seqs: readonly number[]): number[] {
  return [...new Set(seqs)].sort((a, b) => a - b)
}
