import { LedgerUnavailable, messageOf } from '../../../ledger/errors.ts'
import { type Deadline, isPast, startDeadline } from './deadline.ts'
import { EpochMoved, NO_ANSWER, type PostgresOptions } from './options.ts'
import type { Remote } from './remote.ts'

/** The holder stops this part of the lease before others may take it, because clocks and answers are late. */
const MARGIN = 3 / 8
/** Renewals in the time of a lease. */
const RENEWALS = 4
const RETRY_MS = 50

/**
 * The right to write, held until a deadline and renewed in time by a connection of its own. Whether an append
 * is valid is decided by the epoch in PostgreSQL; the deadline decides whether this node may act.
 */
export function createLease(options: {
  readonly remote: Remote
  readonly postgres: PostgresOptions
  readonly onDeadline: (deadline: Deadline) => void
  readonly onFatal: (error: Error) => void
  readonly warn: (message: string, fields: Record<string, unknown>) => void
}) {
  const { remote, onFatal, warn } = options
  const { node, leaseMs } = options.postgres
  let epoch = 0
  let deadline: Deadline = { bootMs: 0, wallMs: 0 }
  let fault: string | null = null
  let isOpen = true
  let timer: NodeJS.Timeout | undefined
  let renewing: Promise<void> = Promise.resolve()

  function held(until: Deadline): void {
    deadline = until
    options.onDeadline(until)
  }

  async function renew(): Promise<void> {
    const startedMs = performance.now()
    const deadlineIn = startDeadline()
    try {
      const isMine = await remote.renew(node, epoch, leaseMs, leaseMs / 2)
      if (!isMine) return onFatal(new EpochMoved('another node has taken over'))
      if (fault !== null) warn('PostgreSQL answers again', {})
      fault = null
      held(deadlineIn(leaseMs * (1 - MARGIN)))
    } catch (error) {
      if (fault === null) warn('the lease could not be renewed', { error: messageOf(error) })
      fault = messageOf(error)
    }
    later(leaseMs / RENEWALS - (performance.now() - startedMs))
  }

  function later(ms: number): void {
    clearTimeout(timer)
    if (isOpen)
      timer = setTimeout(
        () => {
          renewing = renew()
        },
        Math.max(RETRY_MS, ms),
      )
  }

  return {
    /** Takes the lease if it is free. Resolves to whether it did, under which epoch, and renews it from then on. */
    async take(): Promise<number | null> {
      const deadlineIn = startDeadline()
      const taken = await remote.take(node, leaseMs, leaseMs / 2)
      if (taken === null) return null
      epoch = taken
      held(deadlineIn(leaseMs * (1 - MARGIN)))
      later(leaseMs / RENEWALS)
      return epoch
    },
    isPast: () => isPast(deadline),
    /** Throws LedgerUnavailable past the deadline. */
    require(): void {
      if (isPast(deadline)) throw new LedgerUnavailable(fault ?? NO_ANSWER)
    },
    fault: () => fault,
    /** Lets another node take over at once. */
    async release(): Promise<void> {
      isOpen = false
      clearTimeout(timer)
      await renewing
      // Past it, PostgreSQL does not answer.
      if (!isPast(deadline)) await remote.release(epoch, leaseMs / 2).catch(() => undefined)
      remote.close()
    },
  }
}
