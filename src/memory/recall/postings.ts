import type { Database } from 'better-sqlite3'
import { FIRST_MEMORY_ID } from '../../../projections/recall-entries.ts'

/** Where an expression of FTS5's query language occurs. Each list is descending: the newest first. */
export type Postings = {
  readonly turnIds: readonly number[]
  readonly memoryIds: readonly number[]
  /** How many turns and memories hold it; extrapolated where a list was cut. */
  readonly count: number
}

export type PostingsRequest = {
  readonly match: string
  readonly lastTurnId: number
  readonly lastMemoryId: number
  /** Of turns and of memories each no more than the newest so many. */
  readonly limit: number
}

/**
 * Reads postings. One term after the other this costs under a microsecond an occurrence, a tenth of what FTS5 takes
 * to rank the same rows by bm25(), and leaves the ranking to us.
 */
export function createPostingsReader(views: Database) {
  const select = views
    .prepare<[string, number, number, number], number>(
      `SELECT rowid FROM recall_index WHERE recall_index MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?`,
    )
    .pluck()
  return {
    /** Occurrences up to a turn and up to a memory. */
    read({ match, lastTurnId, lastMemoryId, limit }: PostingsRequest): Postings {
      const turnIds = select.all(match, 1, lastTurnId, limit)
      const hasMemories = lastMemoryId > FIRST_MEMORY_ID
      const memoryIds = hasMemories ? select.all(match, FIRST_MEMORY_ID, lastMemoryId, limit) : []
      const count =
        extrapolate(turnIds, limit, lastTurnId) + extrapolate(memoryIds, limit, lastMemoryId, FIRST_MEMORY_ID)
      return { turnIds, memoryIds, count }
    },
  }
}

/** As many as there would be if what was cut off went on as densely as what was read. */
function extrapolate(ids: readonly number[], limit: number, newestId: number, firstId = 0): number {
  const oldest = ids.at(-1)
  if (ids.length < limit || oldest === undefined) return ids.length
  return Math.round((ids.length * (newestId - firstId)) / (newestId - oldest + 1))
}

export type PostingsReader = ReturnType<typeof createPostingsReader>
