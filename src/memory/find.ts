import type { Database } from 'better-sqlite3'
import { createMemoryQueries, type MemoryRow, searchMemories } from '../../projections/memory-queries.ts'
import { canonicalKey } from './canonical-key.ts'
import { contentWords, hasWord, indexWords, type WordIndex } from './language/words.ts'
import { createNearMemories } from './recall/near.ts'

const NEAR = 40
/** A memory that a search by likeness may answer with has at least this part of the words looked for. */
const FIND_COVERAGE = 0.5

export type FindMemories = {
  /** Words, or an id; null for the newest. */
  readonly query: string | null
  readonly limit: number
  /** Of what matches at all only what is meant: the very statement; else all that have every word asked for. */
  readonly meant?: boolean
}

/** Memories whose words match, the best first; the newest ones for an empty query. For the query thread. */
export function createFindMemories(views: Database): (args: FindMemories) => readonly MemoryRow[] {
  const queries = createMemoryQueries(views)
  const near = createNearMemories(views)

  function find(query: string | null, limit: number): MemoryRow[] {
    if (query === null || query.trim() === '') return queries.current(Number.MAX_SAFE_INTEGER, limit)
    const byId = queries.byId(query.trim())
    if (byId && (byId.status === 'active' || byId.status === 'contested')) return [byId]
    const words = contentWords(query)
    const { rows } = searchMemories(views, { query, limit, beforeSeq: null })
    const distinct = new Map(
      [...rows, ...near({ words, limit: NEAR })].map((row) => [row.memoryId, row] as const),
    )
    return [...distinct.values()]
      .map((row) => {
        const index = indexOf(row)
        const held = words.filter((word) => hasWord(index, word)).length
        return { row, score: words.length === 0 ? 1 : held / words.length }
      })
      .filter(({ score }) => score >= FIND_COVERAGE)
      .sort((a, b) => b.score - a.score || b.row.storedSeq - a.row.storedSeq)
      .slice(0, limit)
      .map(({ row }) => row)
  }

  return ({ query, limit, meant = false }) => {
    const found = find(query, limit)
    return meant && query !== null ? meantBy(query, found) : found
  }
}

function meantBy(query: string, found: readonly MemoryRow[]): readonly MemoryRow[] {
  const key = canonicalKey(query)
  const exact = found.filter((row) => row.memoryId === query.trim() || row.canonicalKey === key)
  if (exact.length > 0) return exact
  const words = contentWords(query)
  const whole = found.filter((row) => {
    const index = indexOf(row)
    return words.every((word) => hasWord(index, word))
  })
  return whole.length > 0 ? whole : found
}

function indexOf({ text, subject, slot, quote }: MemoryRow): WordIndex {
  return indexWords(text ?? '', subject ?? '', slot ?? '', quote ?? '')
}
