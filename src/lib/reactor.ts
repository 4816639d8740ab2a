import type { EventArea } from '../../ledger/events/catalogue.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'

/** A run succeeded, and the same work is due again: it recorded nothing. */
export class NoProgress extends Error {
  override readonly name = 'NoProgress'
}

export type Reactor = ReturnType<typeof createReactor>

export type ReactorOptions<Work> = {
  readonly onHeadMoved: SubscribeHead
  /** Facts of these areas wake it. */
  readonly areas: readonly EventArea[]
  /** The most urgent work that is due, from a projection. With lanes, passes over those that run or pause. */
  readonly next: (isTaken: (lane: string) => boolean) => Work | undefined
  /** Acts and appends the outcome, after which `next` no longer returns this work. `held`: it could not act now. */
  readonly run: (work: Work, signal: AbortSignal) => Promise<unknown>
  /** Milliseconds until work becomes due; null if only a fact brings work. */
  readonly dueInMs?: () => number | null
  /** Work of one lane runs in order; lanes run side by side. By default there is one lane. */
  readonly laneOf?: (work: Work) => string
  /** What tells one step of the work from the next, if the work itself does not. */
  readonly stepOf?: (work: Work) => unknown
  /** Pause after a failure. It doubles with each failure of the same step. */
  readonly retryMs?: { readonly first: number; readonly longest: number }
  readonly onFault: (error: unknown) => void
}

type Lane = {
  running: Promise<void> | null
  abort: (reason: Error) => void
  step: string
  /** Whether the last run of this step succeeded. */
  isDone: boolean
  failures: number
  /** End of the pause after a failure, on the monotonic clock. */
  pausedUntilMs: number
}

/** Each repetition may cost a request. */
const NO_PROGRESS_PAUSE_MS = 60_000
const RETRY_MS = { first: 1_000, longest: 60_000 }
/** Clocks jump and setTimeout overflows, so it looks at least this often. */
const LONGEST_SLEEP_MS = 60_000
/** When to look again at overdue work that `next` passes over, for example because it is hidden. */
const OVERDUE_MS = 1_000
/** The lane of the search itself, which fails if the views are unreadable. */
const SEARCH = '\0search'

/**
 * Does the work that projections show: facts without an outcome. Owns waking, lanes, retries and closing. A
 * crash loses nothing, because the next start finds the same work.
 *
 * A failing lane pauses without blocking the others. A step that succeeds but is due again counts as a
 * failure: the view has stalled, or has already what the step appends.
 */
export function createReactor<Work>(options: ReactorOptions<Work>) {
  const { laneOf = () => '', stepOf = (work) => work, retryMs = RETRY_MS } = options
  const lanes = new Map<string, Lane>()
  let isOpen = false
  let timer: NodeJS.Timeout | undefined
  let idle = Promise.withResolvers<void>()
  let unsubscribe: () => void = () => undefined

  function isTaken(name: string): boolean {
    const lane = lanes.get(name)
    return lane !== undefined && (lane.running !== null || lane.pausedUntilMs > performance.now())
  }

  function laneAt(name: string): Lane {
    const lane = lanes.get(name) ?? {
      running: null,
      abort: () => undefined,
      step: '',
      isDone: false,
      failures: 0,
      pausedUntilMs: 0,
    }
    lanes.set(name, lane)
    return lane
  }

  function look(): void {
    if (!isOpen) return
    if (isTaken(SEARCH)) {
      sleep(null)
      return
    }
    let dueInMs: number | null = null
    try {
      for (let work = nextFree(); work !== undefined; work = nextFree()) begin(work)
      for (const name of lanes.keys()) if (!isTaken(name)) lanes.delete(name)
      dueInMs = options.dueInMs?.() ?? null
    } catch (error) {
      failed(laneAt(SEARCH), error)
    }
    if (![...lanes.values()].some(({ running }) => running !== null)) {
      idle.resolve()
      idle = Promise.withResolvers()
    }
    sleep(dueInMs)
  }

  function nextFree(): Work | undefined {
    const work = options.next(isTaken)
    return work === undefined || isTaken(laneOf(work)) ? undefined : work
  }

  function begin(work: Work): void {
    const lane = laneAt(laneOf(work))
    const step = JSON.stringify(stepOf(work))
    if (step !== lane.step) Object.assign(lane, { step, isDone: false, failures: 0 })
    if (lane.isDone) {
      lane.isDone = false
      failed(lane, new NoProgress('a step changed nothing, and is due again'), NO_PROGRESS_PAUSE_MS)
      return
    }
    const controller = new AbortController()
    lane.abort = (reason) => controller.abort(reason)
    lane.running = options
      .run(work, controller.signal)
      .then(
        (outcome) => {
          lane.isDone = outcome !== 'held'
        },
        (error: unknown) => failed(lane, error),
      )
      .finally(() => {
        lane.running = null
        look()
      })
  }

  function failed(lane: Lane, error: unknown, leastMs = 0): void {
    const pauseMs = Math.min(retryMs.longest, retryMs.first * 2 ** lane.failures)
    lane.failures += 1
    lane.pausedUntilMs = performance.now() + Math.max(leastMs, pauseMs)
    if (isOpen) options.onFault(error)
  }

  /** Until the first pause ends or work is due. */
  function sleep(dueInMs: number | null): void {
    clearTimeout(timer)
    const waits = [...lanes.values()].map(({ pausedUntilMs }) => pausedUntilMs - performance.now())
    if (dueInMs !== null) waits.push(dueInMs <= 0 ? OVERDUE_MS : dueInMs)
    // A timer may fire a millisecond too soon.
    timer = setTimeout(look, 1 + Math.min(LONGEST_SLEEP_MS, ...waits.filter((ms) => ms > 0))).unref()
  }

  /** Ends all pauses and looks for work, for example after a setting changed. */
  function wake(): void {
    for (const lane of lanes.values()) lane.pausedUntilMs = 0
    look()
  }

  return {
    /** Begins with everything that is due. */
    start(): void {
      isOpen = true
      unsubscribe = options.onHeadMoved(look, options.areas)
      look()
    },
    wake,
    /** Whether it has not been asked to close. Work that queues in `run` must not begin later. */
    isOpen: () => isOpen,
    /** Milliseconds until this lane ends its pause after a failure; zero if it does not pause. */
    pauseMs: (lane: string) => Math.max(0, (lanes.get(lane)?.pausedUntilMs ?? 0) - performance.now()),
    /** Wakes it. Resolves once nothing runs and nothing more is due, except what pauses after a failure. */
    settled(): Promise<void> {
      const { promise } = idle
      wake()
      return promise
    },
    /** Begins nothing more, and resolves when running work has ended. After `graceMs` its signals abort. */
    async close(graceMs?: number): Promise<void> {
      isOpen = false
      unsubscribe()
      clearTimeout(timer)
      const running = [...lanes.values()]
      const abort = () => {
        for (const lane of running) lane.abort(new Error('the service is stopping'))
      }
      if (graceMs === 0) abort()
      const deadline = graceMs ? setTimeout(abort, graceMs) : undefined
      await Promise.all(running.map((lane) => lane.running))
      clearTimeout(deadline)
    },
  }
}
