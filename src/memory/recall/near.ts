import type { Database } from 'better-sqlite3'
import { createMemoryQueries, type MemoryRow } from '../../../projections/memory-queries.ts'
import { FIRST_MEMORY_ID } from '../../../projections/recall-entries.ts'
import { tokensOf } from '../../../projections/recall-text.ts'
import { createEntryQueries } from './entry-queries.ts'
import { createSeqNumbers } from './evidence.ts'
import { createPostingsReader } from './postings.ts'
import { phrase } from './query.ts'
import { topSlots } from './top.ts'

export type NearQuery = { readonly words: readonly string[]; readonly limit: number }

/** BM25 saturation and length normalisation, with the defaults of SQLite's FTS5. */
const K1 = 1.2
const B = 0.75
/** Some of the closest may no longer be current, so examine this many times the limit. */
const EXAMINED_PER_RESULT = 8

/**
 * Memories that share words with the query, closest first.
 * Runs in a worker thread, once the recall index has caught up. The cost depends on the newest few thousand
 * memories per word, not on the total.
 */
export function createNearMemories(views: Database): (query: NearQuery) => MemoryRow[] {
  const postings = createPostingsReader(views)
  const entries = createEntryQueries(views)
  const queries = createMemoryQueries(views)
  const numbers = createSeqNumbers()

  /** Rare common words and short memories rank higher. */
  function closest(terms: readonly string[], count: number): number[] {
    const { lastMemoryId } = entries.lastBefore(Number.MAX_SAFE_INTEGER)
    const total = lastMemoryId - FIRST_MEMORY_ID
    postings.refresh()
    const lists = terms.map((term) => postings.read(phrase([term]), 0, lastMemoryId))
    numbers.clear(total)
    for (const { memorySeqs } of lists) numbers.add(memorySeqs)
    const seqs = numbers.seqs()
    const weights = new Float32Array(seqs.length)
    for (const { memorySeqs, count: found } of lists) {
      const idf = Math.log(1 + (total - found + 0.5) / (found + 0.5))
      for (let at = 0; at < memorySeqs.length; at += 1) {
        const number = numbers.numberOf(memorySeqs[at] ?? 0)
        weights[number] = (weights[number] ?? 0) + idf
      }
    }
    const best = topSlots(weights, [...seqs.keys()], count)
    const scores = new Map(best.map((number) => [seqs[number] ?? 0, weights[number] ?? 0]))
    const rows = entries.bySeqs([...scores.keys()])
    const mean = rows.reduce((sum, { length }) => sum + length, 0) / Math.max(1, rows.length)
    return rows
      .map(({ seq, length }) => {
        const norm = 1 + K1 * (1 - B + (B * length) / mean)
        return [seq, ((scores.get(seq) ?? 0) * (K1 + 1)) / norm] as const
      })
      .sort(byWeightThenAge)
      .map(([seq]) => seq)
  }

  return ({ words, limit }) => {
    const terms = [...new Set(words.flatMap(tokensOf))]
    if (terms.length === 0) return []
    return closest(terms, EXAMINED_PER_RESULT * limit)
      .flatMap((seq) => queries.byStoredSeq(seq) ?? [])
      .slice(0, limit)
  }
}

type Weighted = readonly [seq: number, weight: number]

function byWeightThenAge([seqA, a]: Weighted, [seqB, b]: Weighted): number {
  return b - a || seqB - seqA
}
