import type { Database } from 'better-sqlite3'
import { findCopies } from '../../projections/copies.ts'
import { type SearchHit, searchTimeline } from '../../projections/search.ts'

/** What the query thread can be asked: each a synchronous function of the views and its arguments. */
export const queryFunctions = {
  findCopies,
  searchTimeline: (
    views: Database,
    args: { readonly query: string; readonly limit: number; readonly beforeSeq: number | null },
  ): SearchHit[] => searchTimeline(views, args),
} as const

export type QueryName = keyof typeof queryFunctions
export type QueryArgs<N extends QueryName> = Parameters<(typeof queryFunctions)[N]>[1]
export type QueryResult<N extends QueryName> = ReturnType<(typeof queryFunctions)[N]>

export type QueryRequest = { readonly id: number; readonly name: QueryName; readonly args: unknown }
export type QueryAnswer =
  | { readonly id: number; readonly ok: true; readonly result: unknown }
  | { readonly id: number; readonly ok: false; readonly message: string }
