import type { Worker } from 'node:worker_threads'
import { messageOf } from '../../ledger/errors.ts'
import type { Head } from '../../ledger/reader.ts'
import { startThread } from '../lib/start-thread.ts'
import type { VerifyMessage, VerifyThreadData } from './verify-thread.ts'

/** The state of the verification of the whole chain. */
export type Verification =
  | { readonly status: 'running'; readonly seq: number }
  | { readonly status: 'sound'; readonly head: Head }
  | { readonly status: 'damaged'; readonly seq: number | null; readonly message: string }
  /** The verification itself failed, which says nothing about the ledger. */
  | { readonly status: 'failed'; readonly message: string }

export type VerificationOptions = {
  readonly directory: string
  /** Delay before the first verification. */
  readonly afterMs: number
  readonly onVerified: (verification: Verification) => void
  readonly rebuildViews: (reason: string) => Promise<void>
}

/** Minimum time between examinations of files that keep looking damaged. */
const EXAMINE_AGAIN_MS = 10_000
/** After this long, `stop` terminates the thread. */
const SLOW_STOP_MS = 10_000

/**
 * Examines the views and then verifies the chain in a separate thread, once after the start and again when a
 * read finds damage. `stop` asks the thread to end, because terminating it while it loads or runs SQLite can
 * end the process.
 */
export function startVerification(options: VerificationOptions) {
  const { directory, afterMs, onVerified, rebuildViews } = options
  let verification: Verification = { status: 'running', seq: 0 }
  let worker: Worker | undefined
  let ended: Promise<void> = Promise.resolve()
  let isStopped = false
  /** Neither running nor scheduled. */
  let isIdle = false
  /** Whether a read found damage since the last run began. */
  let isAsked = false
  /** Damage that a read found, until a run confirms or clears it. */
  let damage: string | null = null
  let examinedAtMs = Number.NEGATIVE_INFINITY
  const stopFlag = new Int32Array(new SharedArrayBuffer(4))

  function conclude(outcome: Verification): void {
    verification = outcome
    if (outcome.status !== 'failed' && !isAsked) damage = null
    if (!isStopped) onVerified(outcome)
  }

  /** Rebuilds the views, then runs again to verify the ledger. */
  async function rebuild(reason: string): Promise<void> {
    isAsked = true
    await rebuildViews(reason)
    damage = null
  }

  function walk(): void {
    isAsked = false
    const data: VerifyThreadData = { directory, stopFlag }
    worker = startThread(new URL('./verify-thread.ts', import.meta.url), data)
    worker.unref()
    const exit = Promise.withResolvers<void>()
    worker.once('exit', () => {
      isIdle = true
      if (isAsked) examineSoon()
      exit.resolve()
    })
    ended = exit.promise
    worker.on('message', (message: VerifyMessage) => {
      switch (message.kind) {
        case 'progress':
          // A repeated run keeps the last verdict until it has its own.
          if (verification.status === 'running') verification = { status: 'running', seq: message.seq }
          break
        case 'ledger':
          conclude({ status: 'sound', head: message.head })
          break
        case 'ledger-damaged':
          conclude({ status: 'damaged', seq: message.seq, message: message.message })
          break
        case 'views-damaged':
          if (!isStopped) void rebuild(message.message)
      }
    })
    worker.on('error', (error) => conclude({ status: 'failed', message: messageOf(error) }))
  }

  function examineSoon(): void {
    if (isStopped) return
    isIdle = false
    const waitMs = Math.max(0, examinedAtMs + EXAMINE_AGAIN_MS - performance.now())
    timer = setTimeout(() => {
      examinedAtMs = performance.now()
      walk()
    }, waitMs).unref()
  }

  let timer = setTimeout(walk, afterMs).unref()

  return {
    verification: () => verification,
    damage: () => damage,
    /** Reports damage that a read found. Examines the files, after the current run if there is one. */
    examine(found: string): void {
      damage = found
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
