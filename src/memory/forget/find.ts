import type { Database } from 'better-sqlite3'
import {
  createMemoryQueries,
  isKept,
  type MemoryRow,
  searchMemories,
} from '../../../projections/memory-queries.ts'
import { contentWords, coverage, indexWords } from '../../text/words.ts'
import { canonicalKey } from '../learn/canonical-key.ts'
import { createNearMemories } from '../recall/near.ts'

const NEAR = 40
/** Minimum share of the query's words that a match must contain. */
export const FIND_COVERAGE = 0.5

export type FindMemories = {
  /** Words or an id; null for the newest memories. */
  readonly query: string | null
  readonly limit: number
}

/** `same`: the same statement or id; `whole`: all the words; `partial`: some of them. */
export type Match = 'same' | 'whole' | 'partial'

export type FoundMemory = { readonly memory: MemoryRow; readonly match: Match }

/** The share of the words that a memory has, 0..1. */
export function coverageOf({ text, subject, slot, quote }: MemoryRow, words: readonly string[]): number {
  return coverage(indexWords(text ?? '', subject ?? '', slot ?? '', quote ?? ''), words)
}

/** Finds matching memories, best first; the newest ones for an empty query. Runs in the query thread. */
export function createFindMemories(views: Database): (args: FindMemories) => readonly FoundMemory[] {
  const queries = createMemoryQueries(views)
  const near = createNearMemories(views)

  return ({ query, limit }) => {
    if (query === null || query.trim() === '')
      return queries.current(Number.MAX_SAFE_INTEGER, limit).map((memory) => ({ memory, match: 'partial' }))
    const byId = queries.byId(query.trim())
    if (byId && isKept(byId.status)) return [{ memory: byId, match: 'same' }]
    const words = contentWords(query)
    const key = canonicalKey(query)
    const { rows } = searchMemories(views, { query, limit, beforeSeq: null, pinned: null })
    const distinct = new Map(
      [...rows, ...near({ words, limit: NEAR })].map((row) => [row.memoryId, row] as const),
    )
    return [...distinct.values()]
      .map((memory) => {
        const covered = words.length === 0 ? FIND_COVERAGE : coverageOf(memory, words)
        return { memory, coverage: memory.canonicalKey === key ? Number.POSITIVE_INFINITY : covered }
      })
      .filter(({ coverage }) => coverage >= FIND_COVERAGE)
      .sort(
        (a, b) =>
          Number(b.coverage > a.coverage) - Number(b.coverage < a.coverage) ||
          b.memory.storedSeq - a.memory.storedSeq,
      )
      .slice(0, limit)
      .map(({ memory, coverage }) => ({
        memory,
        match: coverage > 1 ? 'same' : coverage === 1 ? 'whole' : 'partial',
      }))
  }
}
