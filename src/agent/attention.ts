import type { EventArea } from '../../ledger/events/catalogue.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { SignalRow } from '../../projections/signals.ts'
import type { TurnRow } from '../../projections/turns.ts'
import { createProgressGuard, NoProgress } from '../progress.ts'
import type { TurnAbort } from './turn.ts'

export type Attention = {
  /** Begins with what a crash left unfinished, then takes each message and signal as it comes, one at a time. */
  start(): void
  /** Stops the running turn; what was said so far is kept. False when none runs. */
  stop(): boolean
  /**
   * Runs `work` while nothing else runs, after what is due between turns where that is under way; null when anything else
   * runs or waits. When it resolves or rejects, the work no longer counts as running.
   */
  exclusively<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> | null
  /** Takes nothing new, lets what runs finish for `graceMs`, then leaves it for the next start. */
  close(graceMs: number): Promise<void>
  /** Whether a turn, an activation or exclusive work runs or is about to. What is done between them is not counted. */
  isBusy(): boolean
}

export type AttentionOptions = {
  /** Messages that wait for their turn, and turns that a crash cut off; in the order in which they were asked for. */
  readonly waitingTurns: () => TurnRow[]
  /** Whether a message waits or runs in another lane: what the owner did not ask for gives way to it as well. */
  readonly isOwnerWaiting?: () => boolean
  readonly wakingSignals: () => SignalRow[]
  readonly hasInterrupt: () => boolean
  /** When the next failed activation may be tried again; null when none waits. */
  readonly nextRetryAtMs: () => number | null
  readonly onHeadMoved: SubscribeHead
  /** Of the facts that may set off a turn or an activation. */
  readonly areas: readonly EventArea[]
  readonly runTurn: (turn: TurnRow, signal: AbortSignal) => Promise<void>
  readonly runActivation: (batch: readonly SignalRow[], signal: AbortSignal) => Promise<void>
  /** What is due after each turn: compaction, a fresh capsule. */
  readonly afterTurn: (signal: AbortSignal) => Promise<void>
  /** Ends what a crash cut off, or a disk that refused its facts. Nothing is under way meanwhile. */
  readonly recover: () => Promise<void>
  readonly nowMs: () => number
  readonly onFault: (error: unknown) => void
  readonly upkeepGraceMs?: number
}

/** `upkeep` is what is due after a turn; `exclusive` what somebody asked to have done by itself. */
type Running = {
  readonly kind: 'turn' | 'activation' | 'upkeep' | 'exclusive'
  readonly controller: AbortController
}
type Job = {
  readonly run: (signal: AbortSignal) => Promise<void>
  /** Told once it no longer counts as running. */
  readonly over: () => void
  readonly abandon: (reason: Error) => void
}

/** How long a message waits for a running compaction: interrupting it wastes what it has cost. */
const UPKEEP_GRACE_MS = 5_000
const RETRY_AFTER_FAULT_MS = 1000
const MAX_WAIT_MS = 60_000

/**
 * One activation at a time: the owner's turns in their order, before any background awareness. An activation gives way
 * to them at once, a compaction after a few seconds. What waits is derived from the ledger, so nothing is lost with the process.
 */
export function createAttention(options: AttentionOptions): Attention {
  const { upkeepGraceMs = UPKEEP_GRACE_MS } = options
  let running: Running | null = null
  let wake = Promise.withResolvers<void>()
  let closing = false
  let recovered = false
  let loop: Promise<void> = Promise.resolve()
  let unsubscribe: (() => void) | null = null
  /** Set while a message waits for what runs between turns. */
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
        // What it cut off is no longer under way, and nobody else would end it.
        recovered = false
        if (closing) return
        // Each try may cost a model request: the next one waits for news.
        if (error instanceof NoProgress) await sleep(MAX_WAIT_MS)
        // The disk may be full for a while: what waits stays in the ledger and is tried again.
        else await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_FAULT_MS))
      }
    }
  }

  /** Runs the most urgent of what waits. False when nothing does. */
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
      // Messages go first: upkeep is for the end of the last of them.
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

  /** Sleeps until the head moves, for `waitMs` at most. */
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
        job.abandon(new Error('the service stops'))
        job.over()
      }
    },
    isBusy,
  }
}
