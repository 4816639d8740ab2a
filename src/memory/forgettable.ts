import type { Database } from 'better-sqlite3'
import { createMemoryQueries, type MemoryRow, mentionsOf } from '../../projections/memory-queries.ts'
import { createUtteranceQueries } from '../../projections/utterances.ts'
import { writtenNumbers } from './language/numbers.ts'
import { contentWords } from './language/words.ts'

/** What forgetting begins with. */
export type Forgettable = {
  readonly versions: readonly { readonly memoryId: string; readonly storedSeq: number }[]
  /** What the versions say; a quotation is recognised by it. */
  readonly texts: readonly string[]
  /** The owner's messages that tell it. */
  readonly saidSeqs: readonly number[]
  /** Those, and replies in all of its words: the delegate is not to look at them again. */
  readonly barredSeqs: readonly number[]
}

/** Shorter numbers are told twice by chance. */
const TELLING_DIGITS = 4
/** A longer quote tells more than the memory. */
const MAX_QUOTED_WORDS = 8
/** Messages in all of the words; more than these are common speech. */
const MENTIONS = 200

/** Finds what tells a memory. For the query thread, once the search index is caught up. */
export function createForgettable(views: Database) {
  const queries = createMemoryQueries(views)
  const utterances = createUtteranceQueries(views)

  /** The memory and every version that it took the place of: nobody sees those, and they would stay behind. */
  function versionsOf(memoryId: string): MemoryRow[] {
    const memory = queries.byId(memoryId)
    if (!memory) return []
    const versions = new Map([[memory.memoryId, memory] as const])
    for (const known of versions.values()) {
      for (const older of queries.predecessors(known.memoryId)) versions.set(older.memoryId, older)
    }
    return [...versions.values()]
  }

  function isOwners(seq: number): boolean {
    return utterances.bySeq(seq)?.speaker === 'owner'
  }

  return {
    /** Null where there is no such memory. */
    memory(memoryId: string): Forgettable | null {
      const versions = versionsOf(memoryId)
      if (versions.length === 0) return null
      const sources = versions.flatMap((version) => queries.sources(version.memoryId))
      const mentions = versions.flatMap((version) =>
        mentionsOf(views, { ...tellingOf(version), limit: MENTIONS }),
      )
      const barredSeqs = ascending([...sources, ...mentions])
      return {
        versions: versions.map(({ memoryId, storedSeq }) => ({ memoryId, storedSeq })),
        texts: versions.flatMap(({ text, value }) => [text ?? '', value ?? '']),
        saidSeqs: barredSeqs.filter(isOwners),
        barredSeqs,
      }
    },

    /** What was said in all of the words, and not barred yet. */
    words(words: readonly string[]): Forgettable {
      const numbers = words.filter((word) => /^\d{4,}$/.test(word))
      const found = mentionsOf(views, { words, numbers, limit: MENTIONS })
      const barredSeqs = ascending(found.filter((seq) => !queries.isBarred(seq)))
      return { versions: [], texts: [words.join(' ')], saidSeqs: barredSeqs.filter(isOwners), barredSeqs }
    },
  }
}

function tellingOf({ text, quote, value }: MemoryRow): {
  words: readonly string[]
  numbers: readonly string[]
} {
  const quoted = contentWords(quote ?? '')
  const isTelling = quoted.length >= 2 && quoted.length <= MAX_QUOTED_WORDS
  const numbers = writtenNumbers(value || (text ?? '')).filter(
    ({ digits }) => digits.length >= TELLING_DIGITS,
  )
  return {
    words: isTelling ? quoted : contentWords(text ?? ''),
    numbers: numbers.flatMap(({ digits, parts }) => (parts.length === 1 ? [digits] : [])),
  }
}

function ascending(seqs: readonly number[]): number[] {
  return [...new Set(seqs)].sort((a, b) => a - b)
}
