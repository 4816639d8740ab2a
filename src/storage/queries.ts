import { type FunctionThread, type FunctionThreadOptions, openFunctionThread } from './function-thread.ts'
import type { queryFunctions } from './query-functions.ts'

/** Asks the query thread. */
export type Queries = Pick<FunctionThread<typeof queryFunctions>, 'ask' | 'close'> & {
  /**
   * Starts the thread, which otherwise starts with the first question. A turn waits only moments for what it recalls:
   * where there is something to be found it is to be ready by then, else once the service's own start is over.
   */
  start(hasSomethingToFind: boolean): void
}

/** By then the start itself, and what waits for it, is over. */
const START_AFTER_MS = 5_000

/** The query thread over a data directory, whose stores must be open already. */
export function openQueries(directory: string, options: FunctionThreadOptions = {}): Queries {
  const url = new URL('./query-thread.ts', import.meta.url)
  const thread = openFunctionThread<typeof queryFunctions>(url, directory, options)
  return {
    ask: thread.ask,
    start(hasSomethingToFind) {
      if (hasSomethingToFind) thread.warm()
      else setTimeout(thread.warm, START_AFTER_MS).unref()
    },
    close: thread.close,
  }
}
