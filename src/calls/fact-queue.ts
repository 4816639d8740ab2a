import { LedgerUnavailable } from '../../ledger/errors.ts'
import type { Append, Appended, NewEvent } from '../../ledger/event.ts'

/** How long a batch that the disk refused waits for the next try. */
const RETRY_MS = 1_000
/** A call makes a few facts a second: this is minutes of a disk that takes nothing. */
const MAX_WAITING = 2_000

export type FactQueue = {
  /** Takes facts and returns at once; rejects only when the queue is given up. */
  append: Append
  /** The same, composed when their turn comes: everything taken before is in the ledger by then. */
  appendLater(compose: () => readonly NewEvent[]): Promise<Appended>
  /** Resolves when everything taken so far is in the ledger. */
  settled(): Promise<void>
  /** Tries no more; what the ledger has not taken by then is lost, and said in the log. */
  giveUp(): void
}

/**
 * Appends batch after batch, in the order in which they came, and again where the disk refuses: a call goes on
 * while its facts wait for it.
 */
export function createFactQueue(options: {
  readonly append: Append
  readonly onFault: (error: unknown, message: string) => void
  readonly retryMs?: number
}): FactQueue {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  const over = Promise.withResolvers<void>()
  let isOver = false

  async function take(compose: () => readonly NewEvent[]): Promise<Appended> {
    if (waiting >= MAX_WAITING) throw new Error('too many facts of calls wait for the disk')
    waiting += 1
    const result = last.then(() => appendUntilTaken(compose()))
    last = result.then(
      () => undefined,
      () => undefined,
    )
    return result.finally(() => {
      waiting -= 1
    })
  }
  async function appendUntilTaken(events: readonly NewEvent[]): Promise<Appended> {
    for (;;) {
      try {
        return await options.append(events)
      } catch (error) {
        options.onFault(error, 'facts of a call could not be recorded yet')
        // What the ledger refuses for itself it goes on refusing, and everything behind it would wait.
        if (isOver || !(error instanceof LedgerUnavailable)) throw error
        await pause()
      }
    }
  }
  async function pause(): Promise<void> {
    const due = Promise.withResolvers<void>()
    const timer = setTimeout(due.resolve, options.retryMs ?? RETRY_MS)
    await Promise.race([due.promise, over.promise])
    clearTimeout(timer)
  }

  return {
    append: (events) => take(() => events),
    appendLater: take,
    async settled() {
      await last
    },
    giveUp() {
      isOver = true
      over.resolve()
    },
  }
}
