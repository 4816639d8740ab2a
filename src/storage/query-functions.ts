import type { Database } from 'better-sqlite3'
import { findCopies } from '../../projections/copies.ts'
import {
  createMemoryQueries,
  type MemorySearch,
  mentionsOf,
  nearMemories,
  searchMemories,
} from '../../projections/memory-queries.ts'
import { searchTimeline } from '../../projections/search.ts'
import { createMemoryListing } from '../memory/listing.ts'
import { createRecallRanker, type Hit, type RecallRequest } from '../memory/recall/ranker.ts'

type Search = { readonly query: string; readonly limit: number; readonly beforeSeq: number | null }

/** What the query thread can be asked: each is made once for the views, then a synchronous function of its arguments. */
export const queryFunctions = {
  countMemories: (views: Database) => {
    const { counts } = createMemoryQueries(views)
    return (_none: null) => counts()
  },
  findCopies: (views: Database) => (texts: Parameters<typeof findCopies>[1]) => findCopies(views, texts),
  listMemories: createMemoryListing,
  mentionsOf: (views: Database) => (args: Parameters<typeof mentionsOf>[1]) => mentionsOf(views, args),
  nearMemories: (views: Database) => (args: Parameters<typeof nearMemories>[1]) => nearMemories(views, args),
  recall: (views: Database) => {
    const ranker = createRecallRanker({ views })
    return ({ limit, ...request }: RecallRequest & { readonly limit: number }): readonly Hit[] =>
      ranker.recall(request).slice(0, limit)
  },
  searchMemories: (views: Database) => (args: MemorySearch) => searchMemories(views, args),
  searchTimeline: (views: Database) => (args: Search) => searchTimeline(views, args),
} as const

export type QueryName = keyof typeof queryFunctions
type QueryFunction<N extends QueryName> = ReturnType<(typeof queryFunctions)[N]>
export type QueryArgs<N extends QueryName> = Parameters<QueryFunction<N>>[0]
export type QueryResult<N extends QueryName> = ReturnType<QueryFunction<N>>

export type QueryRequest = { readonly id: number; readonly name: QueryName; readonly args: unknown }
export type QueryAnswer =
  | { readonly id: number; readonly ok: true; readonly result: unknown }
  | { readonly id: number; readonly ok: false; readonly message: string }
