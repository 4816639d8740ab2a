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
  /** Rejects with QueryFailed where the function throws or the thread is closed, with ThreadFailed where it ends. */
  ask<N extends FunctionName<F>>(name: N, args: FunctionArgs<F, N>): Promise<FunctionResult<F, N>>
  /** Starts the thread, and from now on starts it again whenever it ends, so that no call waits for a start. */
  warm(): void
  /** Rejects all calls at once. Resolves when the thread has ended, or a moment later where it hangs. */
  close(): Promise<void>
}

export type FunctionRequest = { readonly name: string; readonly args: unknown }
export type FunctionAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly message: string }

export type FunctionThreadOptions = {
  /** How long one call may run. The start of the thread does not count. */
  readonly limitMs?: number | undefined
  /** How long the thread may take to end by itself when it is closed. */
  readonly closeGraceMs?: number
  /** Called with each failure of the thread, for the log. */
  readonly onFailure?: ((failure: ThreadFailed) => void) | undefined
}

/** The function threw, or its thread is closed. */
export class QueryFailed extends Error {
  override readonly name = 'QueryFailed'
}

/** The call took too long, the thread died of it, or the thread could not start, which is no fault of the call. */
export type ThreadFailure = 'timed_out' | 'died' | 'not_started'

/** The thread ended before it answered. */
export class ThreadFailed extends Error {
  override readonly name = 'ThreadFailed'
  readonly reason: ThreadFailure

  constructor(reason: ThreadFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

type Call = { readonly request: FunctionRequest; readonly answer: PromiseWithResolvers<unknown> }

/** Many times what the longest call takes on a slow machine. */
const LIMIT_MS = 30_000
const START_LIMIT_MS = 60_000
/** Terminating a thread while it loads SQLite ends the whole process, so it may finish first. */
const CLOSE_GRACE_MS = 2000
/** A thread inside one long SQLite statement ends only after the statement. */
const TERMINATE_GRACE_MS = 500

/**
 * A thread that runs one call after the other. A call that takes longer than the limit, or kills the thread, costs
 * only itself: those behind it go to a new thread. `directory` is the data directory, whose stores must be open
 * already; null for a thread that reads none. It starts with the first call, or when it is warmed.
 */
export function openFunctionThread<F extends ThreadFunctions>(
  url: URL,
  directory: string | null,
  options: FunctionThreadOptions = {},
): FunctionThread<F> {
  const { limitMs = LIMIT_MS, closeGraceMs = CLOSE_GRACE_MS, onFailure } = options
  /** The first one is running once the thread is ready. */
  const calls: Call[] = []
  let worker: Worker | null = null
  let isReady = false
  let isKeptWarm = false
  let isClosed = false
  let limit: NodeJS.Timeout | undefined

  function start(): void {
    const started = startThread(url, { directory })
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
    if (!first) return
    worker?.postMessage(first.request)
    startClock(limitMs)
  }

  function startClock(ms: number): void {
    limit = setTimeout(() => {
      const ended = worker
      fail('timed_out', `the thread took more than ${ms} ms ${duringCall()}`)
      void ended?.terminate()
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
    // One that could not start is not started again before it is needed.
    if (calls.length > 0 || (isKeptWarm && isReady)) start()
  }

  return {
    ask(name, args) {
      if (isClosed) return Promise.reject(new QueryFailed('the thread is closed'))
      const answer = Promise.withResolvers<unknown>()
      calls.push({ request: { name, args }, answer })
      if (!worker) start()
      else if (isReady && calls.length === 1) runFirst()
      // The thread ran the function of that name.
      return answer.promise as Promise<FunctionResult<F, typeof name>>
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
      if (await isWithin(closeGraceMs, ended)) return
      void last.terminate()
      await isWithin(TERMINATE_GRACE_MS, ended)
    },
  }
}

async function isWithin(ms: number, done: Promise<void>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), ms)
  try {
    return await Promise.race([done.then(() => true), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
