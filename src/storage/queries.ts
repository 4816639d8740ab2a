import { type FunctionThread, type FunctionThreadOptions, openFunctionThread } from './function-thread.ts'
import type { queryFunctions } from './query-functions.ts'

export type Queries = Pick<FunctionThread<typeof queryFunctions>, 'ask' | 'close'> & {
  /**
   * Starts the thread ahead of the first question, because recall has a short timeout. If there is nothing to
   * find yet, the start is delayed until the service's own start is over.
   */
  start(hasSomethingToFind: boolean): void
}

/** The service's own start is over by then. */
const START_AFTER_MS = 5_000

/** Opens the query thread of a data directory whose stores are open already. */
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
