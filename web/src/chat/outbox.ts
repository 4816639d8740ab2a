import type { TimelineEvent } from '../data/timeline.ts'
import { wordsOf } from '../timeline/event-kinds.ts'
import type { Pending } from '../timeline/rows.ts'

/** A message that is not on the timeline yet, as it is kept for a reload. */
export type Unsettled = Pending & {
  /** The newest event that was known when it was first sent: its own comes after that. Null before it was sent. */
  readonly afterSeq: number | null
}

/**
 * Messages of this tab that are not on the timeline yet. They outlive a reload. Sending one twice is safe: the service
 * runs it once.
 */
export type Outbox = {
  readonly pending: readonly Pending[]
  add(text: string): void
  retry(clientMessageId: string): void
  discard(clientMessageId: string): void
  /** The connection is gone: what was sent and not answered waits for the next one. */
  wait(): void
  /** Sends what waits for a connection, and again what may have been lost with the last one. */
  flush(): void
  /**
   * The event of a message is there: by the id where the service names it, else by the words of a message that was sent
   * before it. What was said long ago in the same words settles nothing.
   */
  settle(event: TimelineEvent): void
  /** A message was not taken: the one of that id, else the oldest that was sent. False where there is none. */
  fail(clientMessageId: string | null, reason: string): boolean
  /** Lets go of everything, and keeps nothing from here on. */
  close(): void
}

/** A sent message of which nothing is heard for this long is offered for a retry. */
const unheardAfterMs = 20_000

export function createOutbox(options: {
  /** False where it cannot be sent now. */
  readonly send: (message: Pending) => boolean
  /** Whether something is heard of the service, so that a message that is not answered is merely in a queue. */
  readonly isBusy: () => boolean
  /** The newest event that this tab knows. */
  readonly lastSeq: () => number
  /** Those of before the reload. */
  readonly kept: readonly Unsettled[]
  readonly keep: (pending: readonly Unsettled[]) => void
  readonly changed: () => void
  readonly newId: () => string
  readonly nowMs: () => number
}): Outbox {
  let pending = options.kept
  let closed = false

  function set(next: readonly Unsettled[]): void {
    pending = next
    options.keep(pending)
    options.changed()
  }

  function find(clientMessageId: string | null): Unsettled | undefined {
    return pending.find((message) => message.clientMessageId === clientMessageId)
  }

  function update(clientMessageId: string, change: Partial<Unsettled>): void {
    if (closed) return
    set(
      pending.map((message) =>
        message.clientMessageId === clientMessageId ? { ...message, ...change } : message,
      ),
    )
  }

  function remove(message: Unsettled): void {
    set(pending.filter((other) => other !== message))
  }

  function transmit(message: Unsettled): void {
    const { clientMessageId } = message
    if (!options.send(message)) {
      update(clientMessageId, { status: 'waiting', reason: null })
      return
    }
    // The service may have come back with an older copy of its ledger: then what is new begins earlier.
    const afterSeq = Math.min(message.afterSeq ?? Infinity, options.lastSeq())
    update(clientMessageId, { status: 'sent', reason: null, afterSeq })
    setTimeout(() => {
      if (find(clientMessageId)?.status === 'sent' && !options.isBusy()) {
        update(clientMessageId, { status: 'failed', reason: 'No answer from the service yet.' })
      }
    }, unheardAfterMs)
  }

  return {
    get pending() {
      return pending
    },
    add(text) {
      const at = new Date(options.nowMs()).toISOString()
      const clientMessageId = options.newId()
      const message = { clientMessageId, text, at, status: 'waiting', reason: null, afterSeq: null } as const
      pending = [...pending, message]
      transmit(message)
    },
    retry(clientMessageId) {
      const message = find(clientMessageId)
      if (message) transmit(message)
    },
    discard(clientMessageId) {
      const message = find(clientMessageId)
      if (message) remove(message)
    },
    wait() {
      for (const { clientMessageId, status } of pending) {
        if (status === 'sent') update(clientMessageId, { status: 'waiting' })
      }
    },
    flush() {
      for (const message of pending) if (message.status !== 'failed') transmit(message)
    },
    settle(event) {
      const named = event.payload.clientMessageId
      const words = wordsOf(event).trim()
      const match =
        typeof named === 'string'
          ? find(named)
          : pending.find(
              ({ text, afterSeq }) =>
                words !== '' && afterSeq !== null && event.seq > afterSeq && text.startsWith(words),
            )
      if (match) remove(match)
    },
    fail(clientMessageId, reason) {
      const message = find(clientMessageId) ?? pending.find(({ status }) => status === 'sent')
      if (message) update(message.clientMessageId, { status: 'failed', reason })
      return message !== undefined
    },
    close() {
      closed = true
      pending = []
    },
  }
}
