import {
  type FunctionThread,
  type FunctionThreadOptions,
  openFunctionThread,
  type ThreadFunctions,
} from './function-thread.ts'

/**
 * Opens the query thread of a data directory whose stores are open already. Each feature has a module that
 * exports its `queryFunctions`; `F` is the type of all of them.
 */
export const openQueries = <F extends ThreadFunctions>(
  directory: string,
  modules: readonly URL[],
  options: FunctionThreadOptions = {},
): FunctionThread<F> =>
  openFunctionThread(new URL('./query-thread.ts', import.meta.url), directory, { ...options, modules })
