import { setTimeout as delay } from 'node:timers/promises'
import { GENESIS_HASH } from '../../ledger/codec.ts'
import { messageOf } from '../../ledger/errors.ts'
import type { Head } from '../../ledger/reader.ts'
import { DAY_MS } from '../lib/time.ts'
import { type FunctionThread, openFunctionThread } from './function-thread.ts'
import type { VerifyFunctions } from './verify-thread.ts'

/** The state of the verification of the whole chain. */
export type Verification =
  | { readonly status: 'running' }
  | { readonly status: 'sound'; readonly at: string; readonly head: Head }
  | { readonly status: 'damaged'; readonly at: string; readonly seq: number | null; readonly message: string }
  /** The verification itself failed, which says nothing about the ledger. */
  | { readonly status: 'failed'; readonly at: string; readonly message: string }

export type VerificationOptions = {
  readonly directory: string
  /** Delay before the first verification. */
  readonly afterMs: number
  /** A week by default. */
  readonly againMs?: number | undefined
  readonly nowMs: () => number
  readonly onVerified: (verification: Verification) => void
  readonly rebuildViews: (reason: string) => Promise<void>
}

/** A page that nobody reads may go bad at any time. */
const AGAIN_MS = 7 * DAY_MS
/** Pause before files that keep looking damaged are examined again. */
const EXAMINE_AGAIN_MS = 10_000
/** Pause after each part, about as long as the part takes, to leave CPU time for a call. */
const REST_MS = 1
/** SQLite may examine a large table for minutes. */
const LIMIT_MS = 3_600_000
const CLOSE_GRACE_MS = 10_000

/**
 * Examines the views and then verifies the chain in a separate thread: after the start, every week, and when a
 * read finds damage.
 */
export function startVerification(options: VerificationOptions) {
  const { directory, afterMs, againMs = AGAIN_MS, nowMs, onVerified, rebuildViews } = options
  let verification: Verification = { status: 'running' }
  /** Damage that a read found, until a run confirms or clears it. */
  let damage: { readonly message: string } | null = null
  let asked = Promise.withResolvers<void>()
  let thread: FunctionThread<VerifyFunctions> | undefined
  const now = () => new Date(nowMs()).toISOString()
  const stop = new AbortController()
  const { signal } = stop

  async function run(): Promise<void> {
    await rest(afterMs)
    for (let pauseMs = 0; !signal.aborted; pauseMs = EXAMINE_AGAIN_MS) {
      asked = Promise.withResolvers()
      await examine()
      const again = setTimeout(asked.resolve, againMs).unref()
      await asked.promise
      clearTimeout(again)
      await rest(pauseMs)
    }
  }

  async function rest(ms: number): Promise<void> {
    if (!signal.aborted) await delay(ms, undefined, { ref: false, signal }).catch(() => undefined)
  }

  async function examine(): Promise<void> {
    const before = damage
    thread = openFunctionThread(new URL('./verify-thread.ts', import.meta.url), directory, {
      limitMs: LIMIT_MS,
      closeGraceMs: CLOSE_GRACE_MS,
    })
    const verdict = await verdictOf(thread).catch(
      (error: unknown): Verification => ({
        status: 'failed',
        at: now(),
        message: messageOf(error).split('\n', 1).join(''),
      }),
    )
    await thread.close()
    if (signal.aborted) return
    if (verdict?.status !== 'failed' && damage === before) damage = null
    if (verdict === null) return
    verification = verdict
    onVerified(verdict)
  }

  /** Null if the views were damaged, and are being rebuilt. */
  async function verdictOf(thread: FunctionThread<VerifyFunctions>): Promise<Verification | null> {
    const found = await thread.ask('damageOfViews', undefined)
    if (found === null) return verifyLedger(thread)
    await rebuildViews(found)
    // Run again to verify the ledger.
    asked.resolve()
    return null
  }

  async function verifyLedger(thread: FunctionThread<VerifyFunctions>): Promise<Verification> {
    let head: Head = { seq: 0, hash: GENESIS_HASH }
    for (;;) {
      const part = await thread.ask('verifyAfter', head)
      if (part.status === 'damaged') return { ...part, at: now() }
      head = part.head
      if (part.isWhole) return { status: 'sound', at: now(), head }
      await rest(REST_MS)
    }
  }

  const running = run()

  return {
    verification: () => verification,
    damage: () => damage?.message ?? null,
    /** Reports damage that a read found. Examines the files, after the current run if there is one. */
    examine(message: string): void {
      damage = { message }
      asked.resolve()
    },
    async stop(): Promise<void> {
      stop.abort()
      asked.resolve()
      await thread?.close()
      await running
    },
  }
}
