import { parentPort, workerData } from 'node:worker_threads'
import { openViewsReadOnly } from '../../projections/views.ts'
import { standBack } from '../thread-priority.ts'
import { type QueryAnswer, type QueryName, type QueryRequest, queryFunctions } from './query-functions.ts'

/** The shell of the query thread: searches take tens of milliseconds, and the event loop belongs to the voice. */
if (parentPort) {
  standBack()
  const port = parentPort
  const views = openViewsReadOnly(workerData.directory)
  const made = new Map<QueryName, (args: never) => unknown>()
  port.on('message', (request: QueryRequest | 'close') => {
    if (request === 'close') {
      views.close()
      port.close()
      return
    }
    const { id, name, args } = request
    let answer: QueryAnswer
    try {
      const run: (args: never) => unknown = made.get(name) ?? queryFunctions[name](views)
      made.set(name, run)
      // The client typed the arguments by the very name that they came with.
      answer = { id, ok: true, result: run(args as never) }
    } catch (error) {
      answer = { id, ok: false, message: error instanceof Error ? error.message : String(error) }
    }
    port.postMessage(answer)
  })
}
