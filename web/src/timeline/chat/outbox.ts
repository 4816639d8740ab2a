import type { Draft } from '../pasted.ts'
import type { Pending } from '../rows.ts'

/** After this long without an answer, a sent message fails and can be retried. */
const answerTimeoutMs = 20_000

/**
 * Messages of this tab that are not on the timeline yet. They survive a reload. Sending is idempotent: the
 * service runs each `clientMessageId` once.
 */
export function createOutbox(options: {
  /** Returns false if the message cannot be sent now. */
  readonly send: (message: Pending) => boolean
  /** Messages stored before the reload. */
  readonly kept: readonly Pending[]
  /** Stores the messages in place of those stored before. */
  readonly keep: (pending: readonly Pending[], earlier: readonly Pending[]) => void
  readonly changed: () => void
  readonly newId: () => string
}) {
  let pending = options.kept
  let closed = false

  function set(next: readonly Pending[]): void {
    options.keep(next, pending)
    pending = next
    options.changed()
  }

  function find(clientMessageId: string | null): Pending | undefined {
    return pending.find((message) => message.clientMessageId === clientMessageId)
  }

  function update(clientMessageId: string, change: Partial<Pending>): void {
    if (closed) return
    set(
      pending.map((message) =>
        message.clientMessageId === clientMessageId ? { ...message, ...change } : message,
      ),
    )
  }

  function transmit(message: Pending): void {
    const { clientMessageId } = message
    if (!options.send(message)) {
      update(clientMessageId, { status: 'waiting', reason: null })
      return
    }
    update(clientMessageId, { status: 'sent', reason: null })
    setTimeout(() => {
      if (find(clientMessageId)?.status === 'sent') update(clientMessageId, { status: 'unanswered' })
    }, answerTimeoutMs)
  }

  return {
    get pending(): readonly Pending[] {
      return pending
    },
    add(draft: Draft): void {
      const at = new Date().toISOString()
      const clientMessageId = options.newId()
      const message = { ...draft, clientMessageId, at, status: 'waiting', reason: null } as const
      pending = [...pending, message]
      transmit(message)
    },
    retry(clientMessageId: string): void {
      const message = find(clientMessageId)
      if (message) transmit(message)
    },
    /** Removes a message that is on the timeline, or that the owner discards. */
    remove(clientMessageId: string): void {
      const message = find(clientMessageId)
      if (message) set(pending.filter((other) => other !== message))
    },
    /** On disconnect: marks messages that the service did not answer as waiting for the next connection. */
    wait(): void {
      for (const { clientMessageId, status } of pending) {
        if (status !== 'failed') update(clientMessageId, { status: 'waiting' })
      }
    },
    /** Sends every message that has not failed. */
    flush(): void {
      for (const message of pending) if (message.status !== 'failed') transmit(message)
    },
    /** Fails the message with that id, else the oldest one sent. Returns false if there is none. */
    fail(clientMessageId: string | null, reason: string): boolean {
      const message = find(clientMessageId) ?? pending.find(({ status }) => status === 'sent')
      if (message) update(message.clientMessageId, { status: 'failed', reason })
      return message !== undefined
    },
    /** Drops all messages and stores nothing from now on. */
    close(): void {
      closed = true
      pending = []
    },
  }
}

/** Each message has a key of its own, because tabs share the storage. */
const storagePrefix = 'delegate.unsettled.'
const storageKeys = () => Object.keys(localStorage).filter((key) => key.startsWith(storagePrefix))

/** Messages stored before the page was reloaded or closed that are not on the timeline yet, oldest first. */
export function readUnsettled(): readonly Pending[] {
  return storageKeys()
    .flatMap((key): Pending[] => {
      const message = stored(key)
      // A sent message may have been lost, so send it again. Sending is idempotent, in another tab too.
      return message ? [{ ...message, status: message.status === 'failed' ? 'failed' : 'waiting' }] : []
    })
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
}

function stored(key: string): Pending | null {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null')
  } catch {
    return null
  }
}

/** Stores the messages of this tab, and removes those that it stored earlier. */
export function keepUnsettled(pending: readonly Pending[], earlier: readonly Pending[]): void {
  try {
    for (const { clientMessageId } of earlier) localStorage.removeItem(storagePrefix + clientMessageId)
    for (const message of pending)
      localStorage.setItem(storagePrefix + message.clientMessageId, JSON.stringify(message))
  } catch {
    // Storage is blocked or full: the messages do not survive a reload.
  }
}

/** When the owner signs out. */
export function forgetUnsettled(): void {
  for (const key of storageKeys()) localStorage.removeItem(key)
}
