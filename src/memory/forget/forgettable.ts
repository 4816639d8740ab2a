import type { Database } from 'better-sqlite3'
import { createMemoryQueries, type MemoryRow, mentionsOf } from '../../../projections/memory-queries.ts'
import { createUtteranceQueries } from '../../../projections/utterances.ts'
import { numberRuns } from '../../text/numbers.ts'
import { contentWords } from '../../text/words.ts'

/** What an erasure of memories starts from. */
export type Forgettable = {
  readonly versions: readonly { readonly memoryId: string; readonly storedSeq: number }[]
  /** Texts of the versions, to recognise quotations. */
  readonly texts: readonly string[]
  /** The owner's messages that state it. */
  readonly saidSeqs: readonly number[]
  /** `saidSeqs`, and replies that contain all the words. The delegate must not read them again. */
  readonly barredSeqs: readonly number[]
}

/** Shorter numbers match by coincidence. */
const MIN_DIGITS = 4
/** A longer quote says more than the memory. */
const MAX_QUOTED_WORDS = 8
/** Maximum matches; more means that the words are too common. */
const MENTIONS = 200

/** Finds everything that states a memory. Runs in the query thread, once the search index is caught up. */
export function createForgettable(views: Database) {
  const queries = createMemoryQueries(views)
  const utterances = createUtteranceQueries(views)

  /** The memory and all versions it replaced, which would otherwise remain, unseen. */
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
    memory(memoryId: string): Forgettable | null {
      const versions = versionsOf(memoryId)
      if (versions.length === 0) return null
      const sources = versions.flatMap((version) => queries.sources(version.memoryId))
      const mentions = versions.flatMap((version) =>
        mentionsOf(views, { ...searchTermsOf(version), limit: MENTIONS }),
      )
      const barredSeqs = ascending([...sources, ...mentions])
      return {
        versions: versions.map(({ memoryId, storedSeq }) => ({ memoryId, storedSeq })),
        texts: versions.flatMap(({ text, value }) => [text ?? '', value ?? '']),
        saidSeqs: barredSeqs.filter(isOwners),
        barredSeqs,
      }
    },

    /** Messages that contain all the words and are not barred yet. */
    words(words: readonly string[]): Forgettable {
      const numbers = words.filter((word) => /^\d{4,}$/.test(word))
      const found = mentionsOf(views, { words, numbers, limit: MENTIONS })
      const barredSeqs = ascending(found.filter((seq) => !queries.isBarred(seq)))
      return { versions: [], texts: [words.join(' ')], saidSeqs: barredSeqs.filter(isOwners), barredSeqs }
    },
  }
}

function searchTermsOf({ text, quote, value }: MemoryRow): {
  words: readonly string[]
  numbers: readonly string[]
} {
  const quoted = contentWords(quote ?? '')
  const isDistinctive = quoted.length >= 2 && quoted.length <= MAX_QUOTED_WORDS
  const numbers = numberRuns(value || (text ?? '')).flat()
  return {
    words: isDistinctive ? quoted : contentWords(text ?? ''),
    numbers: numbers.filter((number) => number.length >= MIN_DIGITS),
  }
}

function ascending(seqs: readonly number[]): number[] {
  return [...new Set(seqs)].sort((a, b) => a - b)
}
