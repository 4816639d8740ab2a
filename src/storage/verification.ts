import type { Worker } from 'node:worker_threads'
import { messageOf } from '../../ledger/errors.ts'
import type { Head } from '../../ledger/reader.ts'
import { startThread } from '../start-thread.ts'
import type { VerifyMessage, VerifyThreadData } from './verify-thread.ts'

/** What the walk of the whole chain, begun after each start, has found so far. */
export type Verification =
  | { readonly status: 'running'; readonly seq: number }
  | { readonly status: 'sound'; readonly head: Head }
  | { readonly status: 'damaged'; readonly seq: number | null; readonly message: string }
  /** The walk itself broke off; that says nothing about the ledger. */
  | { readonly status: 'failed'; readonly message: string }

export type VerificationOptions = {
  readonly directory: string
  /** Leaves the first moments to the service's own start. */
  readonly afterMs: number
  readonly onVerified: (verification: Verification) => void
  readonly onViewsDamaged: (reason: string) => void
  readonly onViewsSound: () => void
}

/** Views that go on looking damaged are not looked through all the time. */
const EXAMINE_AGAIN_MS = 10_000
/** A walk that reports nothing for so long hangs: one check of a large file by SQLite takes minutes. */
const SILENCE_LIMIT_MS = 60 * 60_000
/** Whoever does not end by itself within this is ended. */
const SLOW_STOP_MS = 10_000

/**
 * Walks the chain in a thread of its own. `stop` has it end itself: a thread that is ended from outside while it loads or
 * runs SQLite takes the process along.
 */
export function startVerification(options: VerificationOptions) {
  const { directory, afterMs, onVerified, onViewsDamaged, onViewsSound } = options
  let verification: Verification = { status: 'running', seq: 0 }
  let worker: Worker | undefined
  let ended: Promise<void> = Promise.resolve()
  let isStopped = false
  /** While nobody walks, nor is about to. */
  let isIdle = false
  /** Whether somebody found the views damaged since they were last begun to be looked through. */
  let isAsked = false
  let examinedAtMs = Number.NEGATIVE_INFINITY
  const stopFlag = new Int32Array(new SharedArrayBuffer(4))

  function conclude(outcome: Verification): void {
    verification = outcome
    if (!isStopped) onVerified(outcome)
  }

  function walk(viewsOnly: boolean): void {
    if (viewsOnly) {
      isAsked = false
      examinedAtMs = performance.now()
    }
    const data: VerifyThreadData = { directory, stopFlag, viewsOnly }
    const started = startThread(new URL('./verify-thread.ts', import.meta.url), data)
    worker = started
    worker.unref()
    const exit = Promise.withResolvers<void>()
    const silence = setTimeout(() => {
      if (!viewsOnly) conclude({ status: 'failed', message: 'the walk hung' })
      void started.terminate()
    }, SILENCE_LIMIT_MS).unref()
    worker.once('exit', () => {
      clearTimeout(silence)
      isIdle = true
      if (isAsked) examineSoon()
      exit.resolve()
    })
    ended = exit.promise
    worker.on('message', (message: VerifyMessage) => {
      silence.refresh()
      switch (message.kind) {
        case 'progress':
          verification = { status: 'running', seq: message.seq }
          break
        case 'ledger':
          conclude({ status: 'sound', head: message.head })
          break
        case 'ledger-damaged':
          conclude({ status: 'damaged', seq: message.seq, message: message.message })
          break
        case 'views':
          if (isStopped) break
          if (message.damage !== null) onViewsDamaged(message.damage)
          else if (!isAsked) onViewsSound()
      }
    })
    worker.on('error', (error) => {
      if (viewsOnly) return
      conclude({ status: 'failed', message: messageOf(error) })
    })
  }

  function examineSoon(): void {
    if (isStopped) return
    isIdle = false
    const waitMs = Math.max(0, examinedAtMs + EXAMINE_AGAIN_MS - performance.now())
    timer = setTimeout(() => walk(true), waitMs).unref()
  }

  let timer = setTimeout(() => walk(false), afterMs).unref()

  return {
    verification: () => verification,
    /** Somebody found the views damaged: whether they are is looked into, after what is looked into now. */
    examineViews(): void {
      isAsked = true
      if (isIdle) examineSoon()
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      Atomics.store(stopFlag, 0, 1)
      Atomics.notify(stopFlag, 0)
      const slow = setTimeout(() => void worker?.terminate(), SLOW_STOP_MS)
      await ended
      clearTimeout(slow)
    },
  }
}
