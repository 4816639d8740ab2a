import { workerData } from 'node:worker_threads'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import type { Sources, ThreadFunctions } from './function-thread.ts'
import { serveCalls } from './serve-calls.ts'
import { veilLedger } from './veil.ts'

/** The main function of a thread for queries that would block the event loop and delay voice. */
export function serveFunctions(functions: ThreadFunctions): void {
  const { directory } = workerData
  const views = openViewsReadOnly(directory)
  const wholeLedger = createReader(openLedgerReadOnly(directory))
  const sources: Sources = { directory, views, ledger: veilLedger(wholeLedger, views), wholeLedger }
  const made = Object.entries(functions).map(([name, create]) => {
    // Created with its first call, so that damaged views fail that call and not the thread.
    let run: ((args: never) => unknown) | undefined
    const call = (args: never) => {
      run ??= create(sources)
      return run(args)
    }
    return [name, call]
  })
  serveCalls(Object.fromEntries(made))
}
