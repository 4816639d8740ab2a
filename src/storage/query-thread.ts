import { parentPort, workerData } from 'node:worker_threads'
import type { Database } from 'better-sqlite3'
import { openViewsReadOnly } from '../../projections/views.ts'
import { type QueryAnswer, type QueryRequest, queryFunctions } from './query-functions.ts'

/** The shell of the query thread: searches take tens of milliseconds, and the event loop belongs to the voice. */
if (parentPort) {
  const port = parentPort
  const views = openViewsReadOnly(workerData.directory)
  port.on('message', (request: QueryRequest) => {
    const run: (views: Database, args: never) => unknown = queryFunctions[request.name]
    let answer: QueryAnswer
    try {
      // The client typed the arguments by the very name that they came with.
      answer = { id: request.id, ok: true, result: run(views, request.args as never) }
    } catch (error) {
      answer = { id: request.id, ok: false, message: error instanceof Error ? error.message : String(error) }
    }
    port.postMessage(answer)
  })
}
