import type { Database } from 'better-sqlite3'
import { FIRST_MEMORY_ID } from '../../../projections/recall-entries.ts'

/** Where an FTS5 expression occurs. Both lists are ascending. */
export type Postings = {
  readonly turnIds: Int32Array
  /** Ids minus `FIRST_MEMORY_ID`. */
  readonly memorySeqs: Int32Array
  /** Number of turns and memories that match, extrapolated if a list was cut. */
  readonly count: number
}

/** For a more common word, only the newest occurrences are read: the others carry little weight. */
const MAX_TURNS = 50_000
const MAX_MEMORIES = 5000
/** Total length of all cached lists, at four bytes each. Beyond it, the least recently used are evicted. */
const MAX_CACHED = 4_000_000

/** An ascending list that grows at its end. */
type List = {
  ids: Int32Array
  length: number
  /** The index was read up to this number. */
  upTo: number
  /** Nothing was read below this number, because of the limit. */
  from: number
}

/**
 * Reads and caches postings. The index only grows at its end, so later reads fetch only new entries:
 * milliseconds become microseconds for a word in a tenth of 100,000 turns. Any removal from the index clears
 * the cache.
 */
export function createPostingsReader(views: Database) {
  const select = views
    .prepare<[string, number, number, number], number>(
      `SELECT rowid FROM recall_index WHERE recall_index MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?`,
    )
    .pluck()
  const removals = views.prepare<[], number>('SELECT count FROM recall_removals').pluck()
  const cache = new Map<string, { turns: List; memories: List }>()
  let cachedLength = 0
  let cachedAt = removals.get() ?? 0

  function extend(list: List, match: string, base: number, last: number, limit: number): void {
    if (last <= list.upTo) return
    const found = select.all(match, base + list.upTo + 1, base + last, limit)
    if (found.length === limit) list.from = (found.at(-1) ?? base) - base
    const length = list.length + found.length
    if (length > list.ids.length) {
      const grown = new Int32Array(Math.max(length, Math.ceil(list.length * 1.5)))
      grown.set(list.ids.subarray(0, list.length))
      list.ids = grown
    }
    for (let at = 0; at < found.length; at += 1) list.ids[length - 1 - at] = (found[at] ?? 0) - base
    cachedLength += found.length
    list.length = length
    list.upTo = last
  }

  function evictLeastRecentlyUsed(): void {
    for (const [match, { turns, memories }] of cache) {
      if (cachedLength <= MAX_CACHED) return
      cache.delete(match)
      cachedLength -= turns.length + memories.length
    }
  }

  return {
    /** Call it before reading the lists of a query, in the same state of the index. */
    refresh(): void {
      const now = removals.get() ?? 0
      if (now === cachedAt) return
      cache.clear()
      cachedLength = 0
      cachedAt = now
    },
    /** Occurrences up to a turn and a memory. Valid until the next call for the same expression. */
    read(match: string, lastTurnId: number, lastMemoryId: number): Postings {
      const lists = cache.get(match) ?? { turns: emptyList(), memories: emptyList() }
      cache.delete(match)
      cache.set(match, lists)
      const lastMemorySeq = lastMemoryId - FIRST_MEMORY_ID
      extend(lists.turns, match, 0, lastTurnId, MAX_TURNS)
      extend(lists.memories, match, FIRST_MEMORY_ID, lastMemorySeq, MAX_MEMORIES)
      evictLeastRecentlyUsed()
      const turnIds = upTo(lists.turns, lastTurnId)
      const memorySeqs = upTo(lists.memories, lastMemorySeq)
      const count =
        extrapolate(turnIds.length, lists.turns.from, lastTurnId) +
        extrapolate(memorySeqs.length, lists.memories.from, lastMemorySeq)
      return { turnIds, memorySeqs, count }
    },
  }
}

function emptyList(): List {
  return { ids: new Int32Array(0), length: 0, upTo: 0, from: 0 }
}

function upTo({ ids, length }: List, last: number): Int32Array {
  let [low, high] = [0, length]
  if ((ids[length - 1] ?? 0) <= last) low = length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ids[middle] ?? 0) <= last) low = middle + 1
    else high = middle
  }
  return ids.subarray(0, low)
}

/** Assumes that the part not read is as dense as the part read. */
function extrapolate(length: number, from: number, last: number): number {
  return from === 0 ? length : Math.round((length * last) / (last - from + 1))
}

export type PostingsReader = ReturnType<typeof createPostingsReader>
