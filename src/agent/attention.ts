import type { EventArea } from '../../ledger/events/catalogue.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { SignalRow } from '../../projections/signals.ts'
import type { TurnRow } from '../../projections/turns.ts'
import { createProgressGuard, NoProgress } from '../lib/progress.ts'
import type { TurnAbort } from './turn/turn.ts'

export type Attention = {
  /** Recovers what a crash left unfinished, then runs messages and signals one at a time. */
  start(): void
  /** Stops the running turn or activation; false if neither runs. A turn keeps what it has said. */
  stop(): boolean
  /**
   * Runs `work` while nothing else runs, after any upkeep in progress. Null if something else runs or waits.
   * Once the promise settles, the work no longer counts as running.
   */
  exclusively<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> | null
  /** Accepts no new work and gives running work `graceMs` to finish, then aborts it for the next start. */
  close(graceMs: number): Promise<void>
  /** Whether a turn, an activation or exclusive work is running or queued. Upkeep does not count. */
  isBusy(): boolean
}

export type AttentionOptions = {
  /** Messages waiting for an answer and turns that a crash cut off, in order of arrival. */
  readonly waitingTurns: () => TurnRow[]
  /** Whether a message waits or runs in another lane. Activations and upkeep give way to it too. */
  readonly isOwnerWaiting?: () => boolean
  readonly wakingSignals: () => SignalRow[]
  readonly hasInterrupt: () => boolean
  /** Time of the next activation retry; null if there is none. */
  readonly nextRetryAtMs: () => number | null
  readonly onHeadMoved: SubscribeHead
  /** Areas of the facts that can trigger a turn or an activation. */
  readonly areas: readonly EventArea[]
  readonly runTurn: (turn: TurnRow, signal: AbortSignal) => Promise<void>
  readonly runActivation: (batch: readonly SignalRow[], signal: AbortSignal) => Promise<void>
  readonly afterTurn: (signal: AbortSignal) => Promise<void>
  /** Ends work that a crash or a failed write cut off. Called while nothing runs. */
  readonly recover: () => Promise<void>
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
  readonly upkeepGraceMs?: number
}

/** `upkeep` follows a turn; `exclusive` is work passed to `exclusively()`. */
type Running = {
  readonly kind: 'turn' | 'activation' | 'upkeep' | 'exclusive'
  readonly controller: AbortController
}
type Job = {
  readonly run: (signal: AbortSignal) => Promise<void>
  readonly over: () => void
  readonly abandon: (reason: Error) => void
}

/** How long a message waits for a running compaction, because aborting one wastes its cost. */
const UPKEEP_GRACE_MS = 5_000
const RETRY_AFTER_FAULT_MS = 1000
const MAX_WAIT_MS = 60_000

/**
 * Runs one thing at a time: first the owner's turns, in order, then activations. An activation gives way to a
 * message at once, a compaction after a few seconds. The backlog comes from the ledger, so a crash loses
 * nothing.
 */
export function createAttention(options: AttentionOptions): Attention {
  const { upkeepGraceMs = UPKEEP_GRACE_MS } = options
  let running: Running | null = null
  let wake = Promise.withResolvers<void>()
  let closing = false
  let recovered = false
  let loop: Promise<void> = Promise.resolve()
  let unsubscribe: (() => void) | null = null
  /** Set while a message waits for upkeep to finish. */
  let grace: NodeJS.Timeout | null = null
  const jobs: Job[] = []
  const requireProgress = createProgressGuard()

  async function run(): Promise<void> {
    while (!closing) {
      wake = Promise.withResolvers<void>()
      try {
        if (!recovered) await options.recover()
        recovered = true
        if (!(await runNext())) await sleepUntilWoken()
      } catch (error) {
        requireProgress(undefined)
        options.onFault(error)
        // The failed work may have left a turn unfinished.
        recovered = false
        if (closing) return
        // Each retry may cost a model request, so wait for a new event.
        if (error instanceof NoProgress) await sleep(MAX_WAIT_MS)
        // The disk may be full for a while. The backlog is in the ledger, so nothing is lost.
        else await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_FAULT_MS))
      }
    }
  }

  /** Runs the most urgent item of the backlog. False if the backlog is empty. */
  async function runNext(): Promise<boolean> {
    const job = jobs.shift()
    if (job) {
      await underWay('exclusive', job.run)
      job.over()
      return true
    }
    const [turn] = options.waitingTurns()
    const batch = mustGiveWay() ? [] : options.wakingSignals()
    requireProgress(turn ?? (batch.length > 0 ? batch : undefined))
    if (turn) {
      await underWay('turn', (signal) => options.runTurn(turn, signal))
      // Run upkeep only after the last waiting message.
      if (options.waitingTurns().length > 0) return true
      return underWay('upkeep', options.afterTurn)
    }
    if (batch.length === 0) return false
    return underWay('activation', (signal) => options.runActivation(batch, signal))
  }

  function mustGiveWay(): boolean {
    return options.waitingTurns().length > 0 || (options.isOwnerWaiting?.() ?? false)
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
      if (grace !== null) clearTimeout(grace)
      grace = null
    }
    return true
  }

  async function sleepUntilWoken(): Promise<void> {
    const retryAtMs = options.nextRetryAtMs()
    const dueMs = retryAtMs === null ? MAX_WAIT_MS : Math.max(0, retryAtMs - options.nowMs())
    await sleep(Math.min(MAX_WAIT_MS, dueMs))
  }

  async function sleep(waitMs: number): Promise<void> {
    const timer = setTimeout(() => wake.resolve(), waitMs)
    timer.unref()
    await wake.promise
    clearTimeout(timer)
  }

  function isBusy(): boolean {
    return jobs.length > 0 || (running !== null && running.kind !== 'upkeep')
  }

  function abort(reason: TurnAbort): void {
    running?.controller.abort(reason)
  }

  function onHeadMoved(): void {
    wake.resolve()
    if (running === null || running.kind === 'turn') return
    if (running.kind === 'activation') {
      if (options.hasInterrupt() || mustGiveWay()) abort('preempted')
    } else if (grace === null && mustGiveWay()) {
      grace = setTimeout(() => abort('preempted'), upkeepGraceMs)
    }
  }

  return {
    start() {
      unsubscribe = options.onHeadMoved(onHeadMoved, options.areas)
      loop = run()
    },
    stop() {
      if (running?.kind !== 'turn' && running?.kind !== 'activation') return false
      abort('stopped')
      return true
    },
    exclusively<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> | null {
      if (isBusy() || options.waitingTurns().length > 0) return null
      const begun = Promise.withResolvers<AbortSignal>()
      const over = Promise.withResolvers<void>()
      const outcome = begun.promise.then(work)
      jobs.push({
        run(signal) {
          begun.resolve(signal)
          return outcome.then(
            () => undefined,
            () => undefined,
          )
        },
        over: over.resolve,
        abandon: begun.reject,
      })
      wake.resolve()
      return outcome.finally(() => over.promise)
    },
    async close(graceMs) {
      closing = true
      unsubscribe?.()
      wake.resolve()
      const deadline = setTimeout(() => abort('shutdown'), graceMs)
      await loop
      clearTimeout(deadline)
      for (const job of jobs.splice(0)) {
        job.abandon(new Error('the service is stopping'))
        job.over()
      }
    },
    isBusy,
  }
}
