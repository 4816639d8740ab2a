import type { Database } from 'better-sqlite3'
import { createMemoryQueries, type MemoryRow, searchMemories } from '../../projections/memory-queries.ts'
import { canonicalKey } from './canonical-key.ts'
import { contentWords, hasWord, indexWords } from './language/words.ts'
import { createNearMemories } from './recall/near.ts'

const NEAR = 40
/** A memory that a search by likeness may answer with has at least this part of the words looked for. */
const FIND_COVERAGE = 0.5

export type FindMemories = {
  /** Words, or an id; null for the newest. */
  readonly query: string | null
  readonly limit: number
}

/** A memory, and how it answers a query. */
export type FoundMemory = {
  readonly memory: MemoryRow
  /** The very statement or the id; every word asked for; or only some. */
  readonly match: 'same' | 'whole' | 'partial'
}

/** Memories whose words match, the best first; the newest ones for an empty query. For the query thread. */
export function createFindMemories(views: Database): (args: FindMemories) => readonly FoundMemory[] {
  const queries = createMemoryQueries(views)
  const near = createNearMemories(views)

  return ({ query, limit }) => {
    if (query === null || query.trim() === '')
      return queries.current(Number.MAX_SAFE_INTEGER, limit).map((memory) => ({ memory, match: 'partial' }))
    const byId = queries.byId(query.trim())
    if (byId && (byId.status === 'active' || byId.status === 'contested'))
      return [{ memory: byId, match: 'same' }]
    const words = contentWords(query)
    const key = canonicalKey(query)
    const { rows } = searchMemories(views, { query, limit, beforeSeq: null })
    const distinct = new Map(
      [...rows, ...near({ words, limit: NEAR })].map((row) => [row.memoryId, row] as const),
    )
    return [...distinct.values()]
      .map((memory) => {
        const index = indexWords(
          memory.text ?? '',
          memory.subject ?? '',
          memory.slot ?? '',
          memory.quote ?? '',
        )
        const held = words.filter((word) => hasWord(index, word)).length
        const coverage = words.length === 0 ? FIND_COVERAGE : held / words.length
        return { memory, coverage: memory.canonicalKey === key ? Number.POSITIVE_INFINITY : coverage }
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
