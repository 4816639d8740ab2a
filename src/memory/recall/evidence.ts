import type { Database } from 'better-sqlite3'
import { FIRST_MEMORY_ID } from '../../../projections/recall-entries.ts'
import { MAX_TERMS, type Query } from './query.ts'

/** Where the terms of a query occur: by entry id, a bit mask of terms. */
export type Occurrences = {
  readonly masks: ReadonlyMap<number, number>
  /** Inverse document frequency times weight, per term; 0 for a term that never occurs. */
  readonly idf: readonly number[]
}

/** Where the terms of a query occur among all entries, so that the neighbours of an entry can be scored too. */
export type Evidence = {
  /** The words themselves. */
  readonly exact: Occurrences
  /** The same with other words of their root. */
  readonly root: Occurrences
  /** By entry id, the sum of what occurs in it. Other words of the root count less. */
  readonly weights: ReadonlyMap<number, number>
  /** Weight of a term that occurs nowhere but was still asked for. */
  readonly maxIdf: number
}

/** Once the rarer words occur in this many entries, a more common word adds no others. */
const MAX_ENTRIES = 1000
/** Of a more common word, only the newest occurrences are read: the others carry little weight. */
const MAX_OCCURRENCES = 10_000
/** Words more common than this are not extended to their root. */
const MAX_WIDENED = 2000
const ROOT_WEIGHT = 0.5

/** Gathers the evidence for a query among turns up to `lastTurnId`, and memories. */
export function createEvidenceGatherer(views: Database) {
  const find = views
    .prepare<[string, number], number>(
      `SELECT rowid FROM recall_index WHERE recall_index MATCH ? AND (rowid <= ? OR rowid > ${FIRST_MEMORY_ID})
       ORDER BY rowid DESC LIMIT ${MAX_OCCURRENCES}`,
    )
    .pluck()
  // Turns are numbered from 1, and those without an entry count as well.
  const count = views
    .prepare<[], number>(
      `SELECT count(*) + coalesce((SELECT lastId FROM recall_sittings ORDER BY firstId DESC LIMIT 1), 0)
       FROM recall_entries WHERE id > ${FIRST_MEMORY_ID}`,
    )
    .pluck()

  return (query: Query, lastTurnId: number): Evidence => {
    const terms = query.terms.slice(0, MAX_TERMS)
    const exactly = terms.map(({ exact }) => find.all(exact, lastTurnId))
    const widely = terms.map(({ root }, index) =>
      root === null || (exactly[index] ?? []).length > MAX_WIDENED ? [] : find.all(root, lastTurnId),
    )
    const total = count.get() ?? 0
    const weights = new Map<number, number>()

    function occurrencesOf(
      found: readonly (readonly number[])[],
      ofWeight: number,
      strict?: Occurrences,
    ): Occurrences {
      const masks = new Map(strict?.masks)
      const idf = found.map(({ length }, term) => {
        const strictCount = strict ? (exactly[term] ?? []).length : 0
        return (terms[term]?.weight ?? 1) * idfOf(Math.min(strictCount + length, total), total)
      })
      const byRarity = [...found.entries()].sort(([, a], [, b]) => a.length - b.length)
      for (const [term, ids] of byRarity) {
        const isFull = masks.size >= MAX_ENTRIES && ids.length > MAX_ENTRIES
        for (const id of ids) {
          const mask = masks.get(id) ?? 0
          if ((mask >>> term) & 1 || (isFull && mask === 0)) continue
          masks.set(id, mask | (1 << term))
          weights.set(id, (weights.get(id) ?? 0) + (idf[term] ?? 0) * ofWeight)
        }
      }
      return { masks, idf }
    }

    const exact = occurrencesOf(exactly, 1)
    const root = occurrencesOf(widely, ROOT_WEIGHT, exact)
    return { exact, root, weights, maxIdf: Math.log(1 + (total + 0.5) / 0.5) }
  }
}

/** Robertson and Spärck Jones' weight in its non-negative BM25 form; 0 for a term that never occurs. */
function idfOf(count: number, total: number): number {
  return count === 0 ? 0 : Math.log(1 + (total - count + 0.5) / (count + 0.5))
}
