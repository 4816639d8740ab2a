import { type FunctionThread, openFunctionThread } from './function-thread.ts'
import type { queryFunctions } from './query-functions.ts'

/** Asks the query thread. */
export type Queries = FunctionThread<typeof queryFunctions>

/** Starts the query thread over a data directory, whose stores must be open already. */
export function openQueries(directory: string): Queries {
  return openFunctionThread(new URL('./query-thread.ts', import.meta.url), directory)
}
