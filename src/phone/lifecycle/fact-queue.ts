import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import { LedgerUnavailable } from '../../../ledger/errors.ts'
import type { Append, Appended, NewEvent } from '../../../ledger/event.ts'

/** Pause before a failed batch is retried. */
const RETRY_MS = 1_000
/** Batches that wait while the ledger takes none. */
const MAX_WAITING = 2_000

export type FactQueue = ReturnType<typeof createFactQueue>

/**
 * Appends batches in order and retries while the ledger is unavailable, so that a call continues meanwhile.
 */
export function createFactQueue(options: {
  readonly append: Append
  readonly onFault: (error: unknown, message: string) => void
  readonly retryMs?: number
}) {
  const inTurn = pLimit(1)
  const over = new AbortController()

  async function take(compose: () => readonly NewEvent[]): Promise<Appended> {
    if (inTurn.pendingCount >= MAX_WAITING) throw new Error('too many facts of calls wait for the ledger')
    return inTurn(() => appendUntilTaken(compose()))
  }

  async function appendUntilTaken(events: readonly NewEvent[]): Promise<Appended> {
    for (;;) {
      try {
        return await options.append(events)
      } catch (error) {
        options.onFault(error, 'could not record the facts of a call')
        // Any other error is permanent, and a retry would block all later facts.
        if (over.signal.aborted || !(error instanceof LedgerUnavailable)) throw error
        // After an abort it tries once more.
        await pause(options.retryMs ?? RETRY_MS, undefined, { signal: over.signal }).catch(() => undefined)
      }
    }
  }

  return {
    /** Queues facts without blocking. Resolves once they are in the ledger; rejects if too many wait. */
    append: (events: readonly NewEvent[]) => take(() => events),
    /** Like `append`, but composes the facts when all earlier ones are in the ledger. */
    appendLater: take,
    /** Resolves when everything queued so far is in the ledger. */
    settled: () => inTurn(() => undefined),
    /** Stops retrying. Facts that are not in the ledger by then are logged and lost. */
    giveUp: () => over.abort(),
  }
}
