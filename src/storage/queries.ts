import { type FunctionThread, type FunctionThreadOptions, openFunctionThread } from './function-thread.ts'
import type { queryFunctions } from './query-functions.ts'

export type Queries = FunctionThread<typeof queryFunctions>

/** Opens the query thread of a data directory whose stores are open already. */
export const openQueries = (directory: string, options: FunctionThreadOptions = {}): Queries =>
  openFunctionThread(new URL('./query-thread.ts', import.meta.url), directory, options)
