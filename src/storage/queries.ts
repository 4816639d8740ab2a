import type { Worker } from 'node:worker_threads'
import { startThread } from '../start-thread.ts'
import type { QueryAnswer, QueryArgs, QueryName, QueryRequest, QueryResult } from './query-functions.ts'

/** Asks the query thread. */
export type Queries = {
  ask<N extends QueryName>(name: N, args: QueryArgs<N>): Promise<QueryResult<N>>
  close(): Promise<void>
}

/** A query failed, or the query thread is gone. */
export class QueryFailed extends Error {
  override readonly name = 'QueryFailed'
}

/** A query that runs as long as this after the end is cut short. */
const SLOW_CLOSE_MS = 5000

/** Starts the query thread over the views of a data directory, which must be open already. */
export function openQueries(directory: string): Queries {
  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  let closed = false
  let worker = start()

  function start(): Worker {
    const started = startThread(new URL('./query-thread.ts', import.meta.url), { directory })
    started.on('message', (answer: QueryAnswer) => {
      const waiting = pending.get(answer.id)
      pending.delete(answer.id)
      if (answer.ok) waiting?.resolve(answer.result)
      else waiting?.reject(new QueryFailed(answer.message))
    })
    // A query that brings the thread down costs those that wait; the next one finds a new thread.
    started.on('error', (cause) => failAll(cause))
    started.on('exit', () => {
      if (closed) return
      failAll(new Error('the query thread ended'))
      worker = start()
    })
    started.unref()
    return started
  }

  function failAll(cause: unknown): void {
    for (const waiting of pending.values())
      waiting.reject(new QueryFailed('the query thread failed', { cause }))
    pending.clear()
  }

  return {
    ask(name, args) {
      const id = ++lastId
      const answer = Promise.withResolvers<unknown>()
      pending.set(id, answer)
      const request: QueryRequest = { id, name, args }
      worker.postMessage(request)
      // The thread ran the function of that name.
      return answer.promise as Promise<QueryResult<typeof name>>
    },
    async close() {
      closed = true
      // It closes its own database: a thread that is ended in the middle of a query may take the process along.
      const ended = new Promise((resolve) => worker.once('exit', resolve))
      worker.postMessage('close')
      const slow = setTimeout(() => void worker.terminate(), SLOW_CLOSE_MS)
      await ended
      clearTimeout(slow)
      failAll(new Error('the service is closing'))
    },
  }
}
