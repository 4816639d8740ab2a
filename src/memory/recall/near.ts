import type { Database } from 'better-sqlite3'
import { calledMemories, createMemoryQueries, type MemoryRow } from '../../../projections/memory-queries.ts'
import { FIRST_MEMORY_ID } from '../../../projections/recall-entries.ts'
import { tokensOf } from '../../../projections/recall-text.ts'
import { createEntryQueries } from './entry-queries.ts'
import { createSeqNumbers } from './evidence.ts'
import { createPostingsReader } from './postings.ts'
import { phrase } from './query.ts'
import { topSlots } from './top.ts'

export type NearQuery = { readonly words: readonly string[]; readonly limit: number }

/** BM25's length normalisation and saturation, as SQLite's FTS5 has them. */
const K1 = 1.2
const B = 0.75
/** Some of the closest may hold no more: enough are looked at beyond them. */
const LOOKED_AT = 8

/**
 * Memories that share any of the words, the closest first, then of the latest those whose slot or subject is called
 * so. For a worker thread, once the recall index is caught up. What it costs depends on the newest memories that
 * hold the words, some thousands a word, and not on how many there are.
 */
export function createNearMemories(views: Database): (query: NearQuery) => MemoryRow[] {
  const postings = createPostingsReader(views)
  const entries = createEntryQueries(views)
  const queries = createMemoryQueries(views)
  const numbers = createSeqNumbers()

  /** The rarer the words in common and the shorter the memory, the closer. */
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
    const looked = new Map(best.map((number) => [seqs[number] ?? 0, weights[number] ?? 0]))
    const rows = entries.bySeqs([...looked.keys()])
    const mean = rows.reduce((sum, { length }) => sum + length, 0) / Math.max(1, rows.length)
    return rows
      .map(({ seq, length }) => {
        const norm = 1 + K1 * (1 - B + (B * length) / mean)
        return [seq, ((looked.get(seq) ?? 0) * (K1 + 1)) / norm] as const
      })
      .sort(byWeightThenAge)
      .map(([seq]) => seq)
  }

  return ({ words, limit }) => {
    const terms = [...new Set(words.flatMap(tokensOf))]
    if (terms.length === 0) return []
    const near: MemoryRow[] = []
    for (const seq of closest(terms, LOOKED_AT * limit)) {
      const row = queries.byStoredSeq(seq)
      if (row) near.push(row)
      if (near.length === limit) return near
    }
    const called = calledMemories(views, { words: words.filter((word) => word.length >= 3), limit })
    const distinct = new Map([...near, ...called].map((row) => [row.memoryId, row] as const))
    return [...distinct.values()].slice(0, limit)
  }
}

type Weighted = readonly [seq: number, weight: number]

function byWeightThenAge([seqA, a]: Weighted, [seqB, b]: Weighted): number {
  return b - a || seqB - seqA
}
