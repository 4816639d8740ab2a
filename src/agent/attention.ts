import type { SubscribeHead } from '../../ledger/follow.ts'
import type { SignalRow } from '../../projections/signals.ts'
import type { TurnRow } from '../../projections/turns.ts'
import type { TurnAbort } from './turn.ts'

export type Attention = {
  /** Begins with what a crash left unfinished, then takes each message and signal as it comes, one at a time. */
  start(): void
  /** Stops the running turn; what was said so far is kept. False when none runs. */
  stop(): boolean
  /** Runs `work` while nothing else runs; null when something runs or waits. */
  exclusively<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> | null
  /** Takes nothing new, lets what runs finish for `graceMs`, then leaves it for the next start. */
  close(graceMs: number): Promise<void>
  isBusy(): boolean
}

export type AttentionOptions = {
  /** Messages that wait for their turn, and turns that a crash cut off; in the order in which they were asked for. */
  readonly waitingTurns: () => TurnRow[]
  readonly wakingSignals: () => SignalRow[]
  readonly hasInterrupt: () => boolean
  /** When the next failed activation may be tried again; null when none waits. */
  readonly nextRetryAtMs: () => number | null
  readonly onHeadMoved: SubscribeHead
  readonly runTurn: (turn: TurnRow, signal: AbortSignal) => Promise<void>
  readonly runActivation: (batch: readonly SignalRow[], signal: AbortSignal) => Promise<void>
  /** What is due after each turn: compaction, a fresh capsule. */
  readonly afterTurn: (signal: AbortSignal) => Promise<void>
  readonly recover: () => Promise<void>
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
}

type Running = { readonly kind: 'turn' | 'activation' | 'chore'; readonly controller: AbortController }

const RETRY_AFTER_FAULT_MS = 1000
const MAX_WAIT_MS = 60_000

/**
 * One activation at a time: the owner's turns in their order, before any background awareness; what runs in the
 * background gives way to them. What waits is derived from the ledger, so nothing is lost with the process.
 */
export function createAttention(options: AttentionOptions): Attention {
  let running: Running | null = null
  let wake = Promise.withResolvers<void>()
  let closing = false
  let recovered = false
  let loop: Promise<void> = Promise.resolve()
  let unsubscribe: (() => void) | null = null
  const jobs: ((signal: AbortSignal) => Promise<void>)[] = []

  async function run(): Promise<void> {
    while (!closing) {
      wake = Promise.withResolvers<void>()
      try {
        if (!recovered) await options.recover()
        recovered = true
        if (!(await runNext())) await sleepUntilWoken()
      } catch (error) {
        options.onFault(error)
        // The disk may be full for a while: what waits stays in the ledger and is tried again.
        if (!closing) await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_FAULT_MS))
      }
    }
  }

  /** Runs the most urgent of what waits. False when nothing does. */
  async function runNext(): Promise<boolean> {
    const job = jobs.shift()
    if (job) return underWay('chore', job)
    const [turn] = options.waitingTurns()
    if (turn) {
      await underWay('turn', (signal) => options.runTurn(turn, signal))
      return underWay('chore', options.afterTurn)
    }
    const batch = options.wakingSignals()
    if (batch.length === 0) return false
    return underWay('activation', (signal) => options.runActivation(batch, signal))
  }

  async function underWay(
    kind: Running['kind'],
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<boolean> {
    const controller = new AbortController()
    running = { kind, controller }
    try {
      await work(controller.signal)
    } finally {
      running = null
    }
    return true
  }

  async function sleepUntilWoken(): Promise<void> {
    const retryAtMs = options.nextRetryAtMs()
    const waitMs =
      retryAtMs === null ? MAX_WAIT_MS : Math.min(MAX_WAIT_MS, Math.max(0, retryAtMs - options.nowMs()))
    const timer = setTimeout(() => wake.resolve(), waitMs)
    timer.unref()
    await wake.promise
    clearTimeout(timer)
  }

  function abort(reason: TurnAbort): void {
    running?.controller.abort(reason)
  }

  function onHeadMoved(): void {
    wake.resolve()
    if (running?.kind === 'activation' && (options.hasInterrupt() || options.waitingTurns().length > 0))
      abort('preempted')
  }

  return {
    start() {
      unsubscribe = options.onHeadMoved(onHeadMoved, ['chat', 'sms', 'turn', 'signal', 'activation'])
      loop = run()
    },
    stop() {
      if (running === null || running.kind === 'chore') return false
      abort('stopped')
      return true
    },
    exclusively<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> | null {
      if (running !== null || jobs.length > 0 || options.waitingTurns().length > 0) return null
      const result = Promise.withResolvers<T>()
      jobs.push((signal) => work(signal).then(result.resolve, result.reject))
      wake.resolve()
      return result.promise
    },
    async close(graceMs) {
      closing = true
      unsubscribe?.()
      wake.resolve()
      const deadline = setTimeout(() => abort('shutdown'), graceMs)
      await loop
      clearTimeout(deadline)
    },
    isBusy: () => running !== null,
  }
}
