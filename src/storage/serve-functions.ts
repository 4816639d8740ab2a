import { parentPort, workerData } from 'node:worker_threads'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { createReader } from '../../ledger/reader.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { standBack } from '../thread-priority.ts'
import type { FunctionAnswer, FunctionRequest, Sources, ThreadFunctions } from './function-thread.ts'
import { veilLedger } from './veil.ts'

/**
 * The shell of a thread that answers questions over a data directory: they take longer than the event loop can
 * spare, and that belongs to the voice.
 */
export function serveFunctions(functions: ThreadFunctions): void {
  if (!parentPort) return
  standBack()
  const port = parentPort
  const views = openViewsReadOnly(workerData.directory)
  const ledgerDb = openLedgerReadOnly(workerData.directory)
  const wholeLedger = createReader(ledgerDb)
  const closes: (() => void)[] = []
  const sources: Sources = {
    directory: workerData.directory,
    views,
    ledger: veilLedger(wholeLedger, views),
    wholeLedger,
    onClose: (close) => void closes.push(close),
  }
  const made = new Map<string, (args: never) => unknown>()

  function functionOf(name: string): (args: never) => unknown {
    const known = made.get(name)
    if (known) return known
    const make = functions[name]
    if (!make) throw new Error(`there is no function ${name}`)
    const run = make(sources)
    made.set(name, run)
    return run
  }

  port.on('message', (request: FunctionRequest | 'close') => {
    if (request === 'close') {
      for (const close of closes) close()
      views.close()
      ledgerDb.close()
      port.close()
      return
    }
    const { id, name, args } = request
    let answer: FunctionAnswer
    try {
      // The client typed the arguments by the very name that they came with.
      answer = { id, ok: true, result: functionOf(name)(args as never) }
    } catch (error) {
      answer = {
        id,
        ok: false,
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }
    }
    port.postMessage(answer)
  })
}
