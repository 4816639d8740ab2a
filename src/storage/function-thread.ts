import type { Worker } from 'node:worker_threads'
import type { Database } from 'better-sqlite3'
import type { LedgerReader } from '../../ledger/reader.ts'
import { startThread } from '../start-thread.ts'

/** What the functions of a thread read: connections of the thread's own, for reading only. */
export type Sources = {
  readonly directory: string
  readonly views: Database
  /** Without what is hidden until it is erased. */
  readonly ledger: LedgerReader
  /** With it: for planning an erasure alone. */
  readonly wholeLedger: LedgerReader
  /** Called when the thread ends; what else it has opened is closed there. */
  readonly onClose: (close: () => void) => void
}

/** What a thread can be asked: each is made once for its sources, then a synchronous function of its arguments. */
export type ThreadFunctions = Readonly<Record<string, (sources: Sources) => (args: never) => unknown>>

export type FunctionName<F extends ThreadFunctions> = keyof F & string
export type FunctionArgs<F extends ThreadFunctions, N extends FunctionName<F>> = Parameters<
  ReturnType<F[N]>
>[0]
export type FunctionResult<F extends ThreadFunctions, N extends FunctionName<F>> = ReturnType<
  ReturnType<F[N]>
>

/** Asks a thread. */
export type FunctionThread<F extends ThreadFunctions> = {
  /** Rejects with QueryFailed. */
  ask<N extends FunctionName<F>>(name: N, args: FunctionArgs<F, N>): Promise<FunctionResult<F, N>>
  /** Starts it, unless it runs; from now on there is always one, so that no question waits for a start. */
  warm(): void
  close(): Promise<void>
}

export type FunctionRequest = { readonly id: number; readonly name: string; readonly args: unknown }
export type FunctionAnswer =
  | { readonly id: number; readonly ok: true; readonly result: unknown }
  | { readonly id: number; readonly ok: false; readonly message: string }

/** A question failed, or the thread that it was put to is gone. */
export class QueryFailed extends Error {
  override readonly name = 'QueryFailed'
}

/** What runs as long as this after the end is cut short. */
const SLOW_CLOSE_MS = 5000

/**
 * A thread over a data directory, whose stores must be open already. It answers one question after the other; one
 * that brings it down costs those that wait, and the next finds a new thread. It starts with the first question, or when
 * it is warmed.
 */
export function openFunctionThread<F extends ThreadFunctions>(
  url: URL,
  directory: string,
): FunctionThread<F> {
  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  let isClosed = false
  let isKeptWarm = false
  let worker: Worker | null = null

  function start(): Worker {
    const started = startThread(url, { directory })
    started.on('message', (answer: FunctionAnswer) => {
      const waiting = pending.get(answer.id)
      pending.delete(answer.id)
      if (answer.ok) waiting?.resolve(answer.result)
      else waiting?.reject(new QueryFailed(answer.message))
    })
    started.on('error', (cause) => failAll(cause))
    started.on('exit', () => {
      if (isClosed) return
      failAll(new Error('the thread ended'))
      worker = isKeptWarm ? start() : null
    })
    started.unref()
    return started
  }

  function failAll(cause: unknown): void {
    for (const waiting of pending.values()) waiting.reject(new QueryFailed('the thread failed', { cause }))
    pending.clear()
  }

  return {
    ask(name, args) {
      if (isClosed) return Promise.reject(new QueryFailed('the thread is closed'))
      const id = ++lastId
      const answer = Promise.withResolvers<unknown>()
      pending.set(id, answer)
      const request: FunctionRequest = { id, name, args }
      worker ??= start()
      worker.postMessage(request)
      // The thread ran the function of that name.
      return answer.promise as Promise<FunctionResult<F, typeof name>>
    },
    warm() {
      if (isClosed) return
      isKeptWarm = true
      worker ??= start()
    },
    async close() {
      isClosed = true
      const last = worker
      worker = null
      if (last) {
        // It closes its own databases: a thread that is ended in the middle of a query may take the process along.
        const ended = new Promise((resolve) => last.once('exit', resolve))
        last.postMessage('close')
        const slow = setTimeout(() => void last.terminate(), SLOW_CLOSE_MS)
        await ended
        clearTimeout(slow)
      }
      failAll(new Error('the service is closing'))
    },
  }
}
