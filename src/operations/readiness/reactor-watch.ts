import { LedgerUnavailable, messageOf } from '../../../ledger/errors.ts'
import { OutsideFailure } from '../../lib/outside-failure.ts'

/** In the order of reports. */
const REACTORS = [
  'idle spans',
  'timers',
  'proposals',
  'learning',
  'erasures',
  'tasks',
  'announcements',
  'deliveries',
  'notifications',
  'backups',
  'imports',
  'turns',
  'guests',
] as const
export type ReactorName = (typeof REACTORS)[number]

/** The work of one reactor that has no outcome yet. */
export type Backlog = {
  readonly waiting: number
  /** When the oldest item was requested; null if nothing waits. */
  readonly since: string | null
  /** What the reactor must do next; null if nothing is due: it backs off, is held or is idle. */
  readonly dueKey: string | null
}

export type ReactorFailure = { readonly at: string; readonly message: string; readonly inARow: number }

export type ReactorState = Omit<Backlog, 'dueKey'> & {
  readonly name: ReactorName
  /** `failing`: its work keeps throwing. `standing_still`: its work has been due for too long. */
  readonly state: 'ok' | 'failing' | 'standing_still'
  readonly lastFailure: ReactorFailure | null
}

export type ReactorWatch = ReturnType<typeof createReactorWatch>

type Watched = {
  backlog: () => Backlog
  failure: (ReactorFailure & { readonly dueKey: string | null; readonly atMs: number }) | null
  due: { readonly key: string; readonly sinceMs: number } | null
}

/** One or two failures may be chance. */
const FAILURES_IN_A_ROW = 3
/** Longer than any turn may take. */
const STANDING_STILL_MS = 15 * 60_000
/** A reactor without a backlog has recovered after this long without a failure. */
const QUIET_MS = 90_000
const LOOK_EVERY_MS = 60_000
const MESSAGE_CHARS = 200
const NOTHING: Backlog = { waiting: 0, since: null, dueKey: null }

/**
 * Detects reactors that fail or stand still. A reactor has recovered once other work is due than when it
 * failed, so that reactors need not report success.
 */
export function createReactorWatch(options: {
  readonly nowMs: () => number
  /** A monotonic clock. */
  readonly monotonicMs?: () => number
}) {
  const { nowMs, monotonicMs = () => performance.now() } = options
  const reactors = new Map<ReactorName, Watched>()
  let timer: NodeJS.Timeout | undefined

  function watched(name: ReactorName): Watched {
    const known = reactors.get(name) ?? { backlog: () => NOTHING, failure: null, due: null }
    reactors.set(name, known)
    return known
  }

  /** Another check reports unreadable views. */
  function backlogOf({ backlog }: Watched): Backlog {
    try {
      return backlog()
    } catch {
      return NOTHING
    }
  }

  function look(reactor: Watched): Backlog {
    const backlog = backlogOf(reactor)
    const { dueKey: key } = backlog
    if (key !== reactor.due?.key) reactor.due = key === null ? null : { key, sinceMs: monotonicMs() }
    return backlog
  }

  function isOver({ failure, due }: Watched): boolean {
    if (failure === null) return true
    if (failure.dueKey !== null) return failure.dueKey !== (due?.key ?? null)
    return monotonicMs() - failure.atMs > QUIET_MS
  }

  function stateOf(reactor: Watched): ReactorState['state'] {
    const { failure, due } = reactor
    if (failure !== null && failure.inARow >= FAILURES_IN_A_ROW && !isOver(reactor)) return 'failing'
    return due !== null && monotonicMs() - due.sinceMs > STANDING_STILL_MS ? 'standing_still' : 'ok'
  }

  return {
    /** Returns a function that records a reactor's failures. */
    failuresOf(name: ReactorName) {
      const reactor = watched(name)
      return (error: unknown): void => {
        // Not the reactor's fault: other checks report a failing disk and outages.
        if (error instanceof LedgerUnavailable || error instanceof OutsideFailure) return
        const { dueKey } = look(reactor)
        const before = isOver(reactor) ? 0 : (reactor.failure?.inARow ?? 0)
        const message = messageOf(error).split('\n', 1).join('').slice(0, MESSAGE_CHARS)
        const at = new Date(nowMs()).toISOString()
        reactor.failure = { at, atMs: monotonicMs(), message, inARow: before + 1, dueKey }
      }
    },
    /** Starts checking these backlogs, every minute and at each report. */
    start(backlogs: Partial<Readonly<Record<ReactorName, () => Backlog>>>): void {
      for (const [name, backlog] of Object.entries(backlogs)) watched(name as ReactorName).backlog = backlog
      timer = setInterval(() => {
        for (const reactor of reactors.values()) look(reactor)
      }, LOOK_EVERY_MS).unref()
    },
    report: () =>
      REACTORS.flatMap((name): ReactorState[] => {
        const reactor = reactors.get(name)
        if (!reactor) return []
        const { waiting, since } = look(reactor)
        const { failure } = reactor
        const lastFailure = failure && { at: failure.at, message: failure.message, inARow: failure.inARow }
        return [{ name, waiting, since, state: stateOf(reactor), lastFailure }]
      }),
    close: () => clearInterval(timer),
  }
}
