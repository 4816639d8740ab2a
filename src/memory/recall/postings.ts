import type { Database } from 'better-sqlite3'
import { FIRST_MEMORY_ID } from '../../../projections/recall-entries.ts'
import { createIndexNews } from './news.ts'

/** Where an expression of FTS5's query language occurs; each list ascending, the oldest first. */
export type Postings = {
  readonly turnIds: Int32Array
  /** Less `FIRST_MEMORY_ID`. */
  readonly memorySeqs: Int32Array
  /** How many turns and memories hold it; extrapolated where a list was cut. */
  readonly count: number
}

/** Of a word in more only the newest occurrences are read: the older ones tell next to nothing. */
const MAX_TURNS = 50_000
const MAX_MEMORIES = 5000
/** Of all lists together, before those that were not asked for the longest go: four bytes each. */
const MAX_KEPT = 4_000_000

/** An ascending list that grows at its end. */
type List = {
  ids: Int32Array
  length: number
  /** Up to which number the index was read. */
  upTo: number
  /** The number below which nothing was read, because there was too much. */
  from: number
}

/**
 * Reads postings and keeps them: what is in the index once only goes on at its end, so the next time just the news
 * are read. A word in a tenth of 100,000 turns costs some milliseconds the first time, and microseconds then. When
 * anything is taken out of the index, all of it is read anew.
 */
export function createPostingsReader(views: Database) {
  const select = views
    .prepare<[string, number, number, number], number>(
      `SELECT rowid FROM recall_index WHERE recall_index MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?`,
    )
    .pluck()
  const removals = views.prepare<[], number>('SELECT count FROM recall_removals').pluck()
  const turnNews = createIndexNews(views)
  const memoryNews = createIndexNews(views)
  const kept = new Map<string, { turns: List; memories: List }>()
  let keptLength = 0
  let keptAt = removals.get() ?? 0

  function extend(list: List, match: string, base: number, last: number, limit: number): void {
    if (last <= list.upTo) return
    const from = base + list.upTo + 1
    const news = (base === 0 ? turnNews : memoryNews).occurrences(match, from, base + last)
    const found = news?.reverse() ?? select.all(match, from, base + last, limit)
    if (found.length === limit) list.from = (found.at(-1) ?? base) - base
    const length = list.length + found.length
    if (length > list.ids.length) {
      const grown = new Int32Array(Math.max(length, Math.ceil(list.length * 1.5)))
      grown.set(list.ids.subarray(0, list.length))
      list.ids = grown
    }
    for (let at = 0; at < found.length; at += 1) list.ids[length - 1 - at] = (found[at] ?? 0) - base
    keptLength += found.length
    list.length = length
    list.upTo = last
  }

  function forgetLeastAsked(): void {
    for (const [match, { turns, memories }] of kept) {
      if (keptLength <= MAX_KEPT) return
      kept.delete(match)
      keptLength -= turns.length + memories.length
    }
  }

  return {
    /** To be called before the lists for a query are read, in the same state of the index. */
    refresh(): void {
      const now = removals.get() ?? 0
      if (now === keptAt) return
      kept.clear()
      turnNews.reset()
      memoryNews.reset()
      keptLength = 0
      keptAt = now
    },
    /** Occurrences up to a turn and up to a memory. Valid until the next call for the same expression. */
    read(match: string, lastTurnId: number, lastMemoryId: number): Postings {
      const lists = kept.get(match) ?? { turns: emptyList(), memories: emptyList() }
      kept.delete(match)
      kept.set(match, lists)
      const lastMemorySeq = lastMemoryId - FIRST_MEMORY_ID
      extend(lists.turns, match, 0, lastTurnId, MAX_TURNS)
      extend(lists.memories, match, FIRST_MEMORY_ID, lastMemorySeq, MAX_MEMORIES)
      forgetLeastAsked()
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

/** As many as there would be if what was cut off went on as densely as what was read. */
function extrapolate(length: number, from: number, last: number): number {
  return from === 0 ? length : Math.round((length * last) / (last - from + 1))
}

export type PostingsReader = ReturnType<typeof createPostingsReader>
