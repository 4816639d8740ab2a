import type { Worker } from 'node:worker_threads'
import type { Database } from 'better-sqlite3'
import type { LedgerReader } from '../../ledger/reader.ts'
import { startThread } from '../lib/start-thread.ts'
import { isWithin } from '../lib/waits.ts'

/** The thread's own read-only connections. */
export type Sources = {
  readonly directory: string
  readonly views: Database
  /** Hidden events read as erased. */
  readonly ledger: LedgerReader
  /** Includes hidden events; only for planning an erasure. */
  readonly wholeLedger: LedgerReader
}

/** Functions that a thread offers. Each is created once from the sources, then called synchronously. */
export type ThreadFunctions = Readonly<Record<string, (sources: Sources) => (args: never) => unknown>>

export type FunctionThread<F extends ThreadFunctions> = {
  /** Rejects with QueryFailed if the function throws or after `close`, else with ThreadFailed. */
  ask<Name extends keyof F & string>(
    name: Name,
    args: Parameters<ReturnType<F[Name]>>[0],
  ): Promise<ReturnType<ReturnType<F[Name]>>>
  /** Starts the thread now, and restarts it whenever it ends, so that no call waits for a start. */
  warm(): void
  /** Rejects all calls at once. Resolves when the thread has ended; terminates a thread that hangs. */
  close(): Promise<void>
}

export type FunctionRequest = { readonly name: string; readonly args: unknown }
export type FunctionAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly message: string }

export type FunctionThreadOptions = {
  /** Time limit of one call, without the start of the thread. */
  readonly limitMs?: number | undefined
  /** Modules for the thread to load, if its own file does not import them. */
  readonly modules?: readonly URL[]
  /** Time that the thread has to end by itself after `close`, once it has started. */
  readonly closeGraceMs?: number
  /** How long the thread stays after its last call, unless it is kept warm. An idle thread takes 15 MB. */
  readonly idleMs?: number
  /** Called with each failure of the thread. */
  readonly onFailure?: ((failure: ThreadFailed) => void) | undefined
}

/** The function threw, or its thread is closed. */
export class QueryFailed extends Error {
  override readonly name = 'QueryFailed'
}

export type ThreadFailure = 'timed_out' | 'died' | 'not_started'

/** The thread timed out, died, or could not start. */
export class ThreadFailed extends Error {
  override readonly name = 'ThreadFailed'
  readonly reason: ThreadFailure

  constructor(reason: ThreadFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

type Call = { readonly request: FunctionRequest; readonly answer: PromiseWithResolvers<unknown> }

/** Many times the longest call on a slow machine. */
const LIMIT_MS = 30_000
const START_LIMIT_MS = 60_000
const IDLE_MS = 300_000
const CLOSE_GRACE_MS = 2000
/** Time to finish its start after `close`: terminating a thread while it loads SQLite ends the whole process. */
const START_GRACE_MS = 5_000
/** A thread inside one long SQLite statement ends only after the statement. */
const TERMINATE_GRACE_MS = 500

/**
 * Opens a thread that runs one call at a time. If a call times out or kills the thread, only that call fails;
 * the calls behind it run in a new thread. `directory` is a data directory whose stores are open already, or
 * null. The thread starts with the first call or with `warm`.
 */
export function openFunctionThread<F extends ThreadFunctions>(
  url: URL,
  directory: string | null,
  options: FunctionThreadOptions = {},
): FunctionThread<F> {
  const { limitMs = LIMIT_MS, closeGraceMs = CLOSE_GRACE_MS, idleMs = IDLE_MS, onFailure } = options
  /** The first call runs once the thread is ready. */
  const calls: Call[] = []
  let worker: Worker | null = null
  let isReady = false
  let isKeptWarm = false
  let isClosed = false
  /** Ends a call that takes too long, or an idle thread. */
  let limit: NodeJS.Timeout | undefined

  function start(): void {
    const started = startThread(url, { directory, modules: options.modules?.map(String) })
    worker = started
    isReady = false
    startClock(START_LIMIT_MS)
    started.on('message', (message: FunctionAnswer) => {
      if (worker !== started) return
      clearTimeout(limit)
      if (message.kind === 'ready') isReady = true
      else {
        const answer = calls.shift()?.answer
        if (message.kind === 'result') answer?.resolve(message.result)
        else answer?.reject(new QueryFailed(message.message))
      }
      runFirst()
    })
    const died = (cause?: unknown) => {
      if (worker === started) fail('died', `the thread died ${duringCall()}`, cause)
    }
    started.on('error', died)
    started.on('exit', () => died())
    started.unref()
  }

  function runFirst(): void {
    const [first] = calls
    if (first) {
      worker?.postMessage(first.request)
      startClock(limitMs)
    } else if (!isKeptWarm) limit = setTimeout(endIdle, idleMs).unref()
  }

  function endIdle(): void {
    if (isKeptWarm) return
    worker?.postMessage('close')
    worker = null
  }

  function startClock(ms: number): void {
    limit = setTimeout(() => {
      const [late, wasReady] = [worker, isReady]
      fail('timed_out', `the thread took more than ${ms} ms ${duringCall()}`)
      if (wasReady) void late?.terminate()
      else late?.postMessage('close')
    }, ms).unref()
  }

  const duringCall = () => (isReady && calls[0] ? `during ${calls[0].request.name}` : 'to start')

  function fail(reason: ThreadFailure, message: string, cause?: unknown): void {
    clearTimeout(limit)
    worker = null
    if (isClosed) return
    const failure = new ThreadFailed(isReady ? reason : 'not_started', message, { cause })
    onFailure?.(failure)
    calls.shift()?.answer.reject(failure)
    // A thread that could not start is not restarted until it is needed.
    if (calls.length > 0 || (isKeptWarm && isReady)) start()
  }

  return {
    ask(name, args) {
      if (isClosed) return Promise.reject(new QueryFailed('the thread is closed'))
      const answer = Promise.withResolvers<unknown>()
      calls.push({ request: { name, args }, answer })
      if (!worker) start()
      else if (isReady && calls.length === 1) {
        clearTimeout(limit)
        runFirst()
      }
      // The thread ran the function of that name.
      return answer.promise as Promise<ReturnType<ReturnType<F[typeof name]>>>
    },
    warm() {
      if (isClosed) return
      isKeptWarm = true
      if (!worker) start()
    },
    async close() {
      isClosed = true
      clearTimeout(limit)
      for (const { answer } of calls.splice(0)) answer.reject(new QueryFailed('the service is closing'))
      const last = worker
      worker = null
      if (!last) return
      const ended = new Promise<void>((resolve) => last.once('exit', () => resolve()))
      last.postMessage('close')
      if (await isWithin(isReady ? closeGraceMs : START_GRACE_MS, ended)) return
      void last.terminate()
      await isWithin(TERMINATE_GRACE_MS, ended)
    },
  }
}
