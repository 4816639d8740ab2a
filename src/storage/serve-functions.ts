import { workerData } from 'node:worker_threads'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import type { Sources, ThreadFunctions } from './function-thread.ts'
import { serveCalls } from './serve-calls.ts'
import { veilLedger } from './veil.ts'

/** The main function of a thread for queries that would block the event loop and delay voice. */
export function serveFunctions(functions: ThreadFunctions): void {
  serveCalls(() => {
    const { directory } = workerData
    const views = openViewsReadOnly(directory)
    const ledgerDb = openLedgerReadOnly(directory)
    const wholeLedger = createReader(ledgerDb)
    const closes: (() => void)[] = []
    const sources: Sources = {
      directory,
      views,
      ledger: veilLedger(wholeLedger, views),
      wholeLedger,
      onClose: (close) => void closes.push(close),
    }
    const functionsByName = new Map<string, (args: never) => unknown>()
    return {
      functionOf(name) {
        const cached = functionsByName.get(name)
        if (cached) return cached
        const create = functions[name]
        if (!create) throw new Error(`unknown function ${name}`)
        const run = create(sources)
        functionsByName.set(name, run)
        return run
      },
      close() {
        for (const close of closes) close()
        views.close()
        ledgerDb.close()
      },
    }
  })
}
