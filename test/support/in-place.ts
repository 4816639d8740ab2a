import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import {
  type FunctionThread,
  QueryFailed,
  type Sources,
  type ThreadFunctions,
} from '../../src/storage/function-thread.ts'
import { veilLedger } from '../../src/storage/veil.ts'

/** Runs the functions of a thread without the thread, which costs more than most tests that use it. */
export function openInPlace<F extends ThreadFunctions>(functions: F, directory: string): FunctionThread<F> {
  const closes: (() => void)[] = []
  const made = new Map<string, (args: never) => unknown>()
  let opened: Sources | null = null
  let isClosed = false

  function sources(): Sources {
    if (opened) return opened
    const views = openViewsReadOnly(directory)
    const ledgerDb = openLedgerReadOnly(directory)
    const wholeLedger = createReader(ledgerDb)
    closes.push(
      () => views.close(),
      () => ledgerDb.close(),
    )
    opened = { directory, views, ledger: veilLedger(wholeLedger, views), wholeLedger }
    return opened
  }

  return {
    async ask(name, args) {
      if (isClosed) throw new QueryFailed('the thread is closed')
      const run = made.get(name) ?? functions[name]?.(sources())
      if (!run) throw new QueryFailed(`there is no function ${name}`)
      made.set(name, run)
      try {
        // Like messages between threads, arguments and results are cloned.
        return structuredClone(run(structuredClone(args) as never)) as never
      } catch (error) {
        throw new QueryFailed(error instanceof Error ? error.message : String(error))
      }
    },
    warm: () => undefined,
    async close() {
      isClosed = true
      for (const close of closes.splice(0)) close()
    },
  }
}
