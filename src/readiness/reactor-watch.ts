import { LedgerUnavailable, messageOf } from '../../ledger/errors.ts'
import { OutsideFailure } from '../outbound/outside-failure.ts'

export type ReactorName =
  | 'turns'
  | 'guests'
  | 'texts'
  | 'deliveries'
  | 'tasks'
  | 'announcements'
  | 'timers'
  | 'proposals'
  | 'learning'
  | 'erasures'
  | 'idle spans'

/** The work of one reactor that has no outcome yet. */
export type Backlog = {
  readonly waiting: number
  /** When the oldest of it was asked for; null where nothing waits. */
  readonly since: string | null
  /** What the reactor must do next. Null where nothing is due: it backs off, is held, or has nothing to do. */
  readonly dueKey: string | null
}

export type ReactorFailure = { readonly at: string; readonly message: string; readonly inARow: number }

export type ReactorState = Omit<Backlog, 'dueKey'> & {
  readonly name: ReactorName
  /** `failing`: its work throws again and again. `standing_still`: its work was due long ago. */
  readonly state: 'ok' | 'failing' | 'standing_still'
  readonly lastFailure: ReactorFailure | null
}

export type ReactorWatch = {
  /** Returns what records the failures of a reactor. */
  failuresOf(name: ReactorName): (error: unknown) => void
  /** From now on these backlogs are looked at, every minute and with each report. */
  start(backlogs: Partial<Readonly<Record<ReactorName, () => Backlog>>>): void
  report(): ReactorState[]
  close(): void
}

type Watched = {
  backlog: () => Backlog
  failure: (ReactorFailure & { readonly dueKey: string | null; readonly atMs: number }) | null
  due: { readonly key: string; readonly sinceMs: number } | null
}

/** One failure may be chance, two as well. */
const FAILURES_IN_A_ROW = 3
/** Longer than any turn may take. */
const STANDING_STILL_MS = 15 * 60_000
/** Work without a backlog has recovered when it did not fail for this long. */
const QUIET_MS = 90_000
const LOOK_EVERY_MS = 60_000
const MESSAGE_CHARS = 200
const NOTHING: Backlog = { waiting: 0, since: null, dueKey: null }

/**
 * Tells which reactors fail or stand still. A reactor has recovered when other work is due than when it failed, so
 * none of them has to report success.
 */
export function createReactorWatch(options: {
  readonly nowMs: () => number
  /** A clock that nobody sets. */
  readonly monotonicMs?: () => number
}): ReactorWatch {
  const { nowMs, monotonicMs = () => performance.now() } = options
  const reactors = new Map<ReactorName, Watched>()
  let timer: NodeJS.Timeout | undefined

  function watched(name: ReactorName): Watched {
    const known = reactors.get(name) ?? { backlog: () => NOTHING, failure: null, due: null }
    reactors.set(name, known)
    return known
  }

  /** Views that cannot be read are the failure of another check. */
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
    failuresOf(name) {
      const reactor = watched(name)
      return (error) => {
        // Neither is the reactor's: the disk refuses everybody's facts, and an outage is reported as such.
        if (error instanceof LedgerUnavailable || error instanceof OutsideFailure) return
        const { dueKey } = look(reactor)
        const before = isOver(reactor) ? 0 : (reactor.failure?.inARow ?? 0)
        const message = messageOf(error).split('\n', 1).join('').slice(0, MESSAGE_CHARS)
        const at = new Date(nowMs()).toISOString()
        reactor.failure = { at, atMs: monotonicMs(), message, inARow: before + 1, dueKey }
      }
    },
    start(backlogs) {
      for (const [name, backlog] of Object.entries(backlogs)) watched(name as ReactorName).backlog = backlog
      timer = setInterval(() => {
        for (const reactor of reactors.values()) look(reactor)
      }, LOOK_EVERY_MS).unref()
    },
    report: () =>
      [...reactors].map(([name, reactor]) => {
        const { waiting, since } = look(reactor)
        const { failure } = reactor
        const lastFailure = failure && { at: failure.at, message: failure.message, inARow: failure.inARow }
        return { name, waiting, since, state: stateOf(reactor), lastFailure }
      }),
    close: () => clearInterval(timer),
  }
}
