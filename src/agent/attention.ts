import type { EventArea } from '../../ledger/events/catalogue.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'
import type { SignalRow } from '../../projections/signals.ts'
import type { TurnRow } from '../../projections/turns.ts'
import { createReactor } from '../lib/reactor.ts'
import type { TurnAbort } from './turn/turn.ts'

export type AttentionOptions = {
  /** Messages waiting for an answer and turns that a crash cut off, in order of arrival. */
  readonly waitingTurns: () => TurnRow[]
  /** Whether a message waits or runs in another lane. Activations and upkeep give way to it too. */
  readonly isOwnerWaiting?: () => boolean
  /** Whether what runs must stop at once. A turn stays open, to be resumed. */
  readonly mustStop?: (kind: Running['kind']) => boolean
  /** Whether another message took the place of the one that the turn answers. Such a turn is stopped. */
  readonly isReplaced?: (turnId: string) => boolean
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
  readonly turnId: string | null
  readonly controller: AbortController
}
/** `run` resolves to what settles the promise of the caller. */
type Job = {
  readonly run: (signal: AbortSignal) => Promise<() => void>
  readonly abandon: (reason: Error) => void
}

type Work =
  | { readonly kind: 'recovery' }
  | { readonly kind: 'exclusive'; readonly job: Job }
  | { readonly kind: 'turn'; readonly turn: TurnRow }
  | { readonly kind: 'activation'; readonly batch: readonly SignalRow[] }

/** How long a message waits for a running compaction, because aborting one wastes its cost. */
const UPKEEP_GRACE_MS = 5_000
/** The disk may be full for a while, and an answer should not wait long once it has room. */
const RETRY_MS = { first: 1_000, longest: 5_000 }

export type Attention = ReturnType<typeof createAttention>

/**
 * Runs one thing at a time: first the owner's turns, in order, then activations. An activation gives way to a
 * message at once, a compaction after a few seconds. The backlog comes from the ledger, so a crash loses
 * nothing.
 */
export function createAttention(options: AttentionOptions) {
  const { upkeepGraceMs = UPKEEP_GRACE_MS } = options
  let running: Running | null = null
  let recovered = false
  /** Set while a message waits for upkeep to finish. */
  let grace: NodeJS.Timeout | null = null
  const jobs: Job[] = []
  let jobsRun = 0
  const reactor = createReactor<Work>({
    onHeadMoved: options.onHeadMoved,
    areas: options.areas,
    next(isTaken) {
      if (!isTaken('')) return nextWork()
      giveWay()
      return undefined
    },
    stepOf: (work) => (work.kind === 'exclusive' ? jobsRun : work),
    run,
    dueInMs() {
      const retryAtMs = options.nextRetryAtMs()
      return retryAtMs === null ? null : retryAtMs - options.nowMs()
    },
    retryMs: RETRY_MS,
    onFault(error) {
      // The failed work may have left a turn unfinished.
      recovered = false
      options.onFault(error)
    },
  })

  function nextWork(): Work | undefined {
    if (!recovered) return { kind: 'recovery' }
    const [job] = jobs
    if (job) return { kind: 'exclusive', job }
    const [turn] = options.waitingTurns()
    if (turn) return { kind: 'turn', turn }
    const batch = mustGiveWay() ? [] : options.wakingSignals()
    return batch.length > 0 ? { kind: 'activation', batch } : undefined
  }

  async function run(work: Work): Promise<void> {
    if (work.kind === 'recovery') {
      await options.recover()
      recovered = true
    } else if (work.kind === 'exclusive') {
      jobsRun += 1
      jobs.shift()
      const settle = await underWay('exclusive', work.job.run)
      settle()
    } else if (work.kind === 'turn') {
      await underWay('turn', (signal) => options.runTurn(work.turn, signal), work.turn.turnId)
      // Run upkeep only after the last waiting message.
      if (options.waitingTurns().length === 0) await underWay('upkeep', options.afterTurn)
    } else await underWay('activation', (signal) => options.runActivation(work.batch, signal))
  }

  function mustGiveWay(): boolean {
    return options.waitingTurns().length > 0 || (options.isOwnerWaiting?.() ?? false)
  }

  async function underWay<T>(
    kind: Running['kind'],
    work: (signal: AbortSignal) => Promise<T>,
    turnId: string | null = null,
  ): Promise<T> {
    const controller = new AbortController()
    running = { kind, turnId, controller }
    try {
      return await work(controller.signal)
    } finally {
      running = null
      if (grace !== null) clearTimeout(grace)
      grace = null
    }
  }

  function isBusy(): boolean {
    return jobs.length > 0 || (running !== null && running.kind !== 'upkeep')
  }

  function abort(reason: TurnAbort): void {
    running?.controller.abort(reason)
  }

  function giveWay(): void {
    if (running === null) return
    if (options.mustStop?.(running.kind)) abort(running.kind === 'turn' ? 'shutdown' : 'preempted')
    if (running.turnId !== null && options.isReplaced?.(running.turnId)) abort('stopped')
    if (running.kind === 'turn') return
    if (running.kind === 'activation') {
      if (options.hasInterrupt() || mustGiveWay()) abort('preempted')
    } else if (grace === null && mustGiveWay()) {
      grace = setTimeout(() => abort('preempted'), upkeepGraceMs)
    }
  }

  return {
    /** Recovers what a crash left unfinished, then runs messages and signals one at a time. */
    start: reactor.start,
    /**
     * Stops the running turn or activation, or only that turn; false if it does not run. A turn keeps what it has said.
     */
    stop(turnId?: string): boolean {
      if (running?.kind !== 'turn' && running?.kind !== 'activation') return false
      if (turnId !== undefined && running.turnId !== turnId) return false
      abort('stopped')
      return true
    },
    /**
     * Runs `work` while nothing else runs, after any upkeep in progress. Null if something else runs or waits.
     * Once the promise settles, the work no longer counts as running.
     */
    exclusively<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> | null {
      if (isBusy() || options.waitingTurns().length > 0) return null
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const run = (signal: AbortSignal) =>
        work(signal).then(
          (value) => () => resolve(value),
          (error: unknown) => () => reject(error),
        )
      jobs.push({ run, abandon: reject })
      reactor.wake()
      return promise
    },
    /** Accepts no new work and gives running work `graceMs` to finish, then aborts it for the next start. */
    async close(graceMs: number): Promise<void> {
      const deadline = setTimeout(() => abort('shutdown'), graceMs)
      await reactor.close()
      clearTimeout(deadline)
      for (const job of jobs.splice(0)) job.abandon(new Error('the service is stopping'))
    },
    /** Whether a turn, an activation or exclusive work is running or queued. Upkeep does not count. */
    isBusy,
  }
}
