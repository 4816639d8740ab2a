import type { TimelineEvent } from '../data/timeline.ts'
import { wordsOf } from '../timeline/event-kinds.ts'
import type { Pending } from '../timeline/rows.ts'

/** Messages of this tab that are not on the timeline yet. Sending one twice is safe: the service runs it once. */
export type Outbox = {
  readonly pending: readonly Pending[]
  add(text: string): void
  retry(clientMessageId: string): void
  discard(clientMessageId: string): void
  /** Sends what waits for a connection, and again what may have been lost with the last one. */
  flush(): void
  /** The event of a message is there: by the id where the service names it, else by its words. */
  settle(event: TimelineEvent): void
  /** A message was not taken: the one of that id, else the oldest that was sent. False where there is none. */
  fail(clientMessageId: string | null, reason: string): boolean
}

/** A sent message of which nothing is heard for this long is offered for a retry. */
const unheardAfterMs = 20_000

export function createOutbox(options: {
  /** False where it cannot be sent now. */
  readonly send: (message: Pending) => boolean
  /** Whether something is heard of the service, so that a message that is not answered is merely in a queue. */
  readonly isBusy: () => boolean
  readonly changed: () => void
  readonly newId: () => string
  readonly nowMs: () => number
}): Outbox {
  let pending: readonly Pending[] = []

  function find(clientMessageId: string | null): Pending | undefined {
    return pending.find((message) => message.clientMessageId === clientMessageId)
  }

  function update(clientMessageId: string, status: Pending['status'], reason: string | null): void {
    pending = pending.map((message) =>
      message.clientMessageId === clientMessageId ? { ...message, status, reason } : message,
    )
    options.changed()
  }

  function remove(message: Pending): void {
    pending = pending.filter((other) => other !== message)
    options.changed()
  }

  function transmit(message: Pending): void {
    const { clientMessageId } = message
    if (!options.send(message)) {
      update(clientMessageId, 'waiting', null)
      return
    }
    update(clientMessageId, 'sent', null)
    setTimeout(() => {
      if (find(clientMessageId)?.status === 'sent' && !options.isBusy()) {
        update(clientMessageId, 'failed', 'No answer from the service yet.')
      }
    }, unheardAfterMs)
  }

  return {
    get pending() {
      return pending
    },
    add(text) {
      const at = new Date(options.nowMs()).toISOString()
      const message: Pending = { clientMessageId: options.newId(), text, at, status: 'waiting', reason: null }
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
    flush() {
      for (const message of pending) if (message.status !== 'failed') transmit(message)
    },
    settle(event) {
      const named = event.payload.clientMessageId
      const words = wordsOf(event).trim()
      const match =
        typeof named === 'string'
          ? find(named)
          : pending.find((message) => words !== '' && message.text.startsWith(words))
      if (match) remove(match)
    },
    fail(clientMessageId, reason) {
      const message = find(clientMessageId) ?? pending.find(({ status }) => status === 'sent')
      if (message) update(message.clientMessageId, 'failed', reason)
      return message !== undefined
    },
  }
}
