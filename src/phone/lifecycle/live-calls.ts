import type { Talk } from '../call/talk.ts'

/** A preview of the call in progress for the browser, ahead of its facts. */
export type LiveCall = Talk & {
  readonly callSid: string
  readonly party: 'owner' | 'guest'
  readonly from: string
  /** The owner talks in a browser. */
  readonly inBrowser: boolean
  readonly conversationId: string | null
  readonly spanId: string
  readonly offeredAt: string
  /** Null until the stream connects. */
  readonly connectedAt: string | null
}

/** As fast as people read. Audio needs the event loop. */
const EVERY_MS = 100

/** Publishes the call in progress, debounced and only when it differs. */
export function createLiveCalls(options: { readonly read: () => LiveCall | null }) {
  const listeners = new Set<(call: LiveCall | null) => void>()
  let due: NodeJS.Timeout | null = null
  let published = 'null'

  function publish(): void {
    due = null
    const call = options.read()
    const text = JSON.stringify(call)
    if (text === published) return
    published = text
    for (const listener of [...listeners]) listener(call)
  }

  return {
    current: options.read,
    /** Calls `listener` on each change, at most once per EVERY_MS. Returns an unsubscribe function. */
    subscribe(listener: (call: LiveCall | null) => void): () => void {
      // The first subscriber reads the current state itself, so only later changes are published.
      if (listeners.size === 0) published = JSON.stringify(options.read())
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** Reports a possible change. Cheap without subscribers. */
    changed(): void {
      if (due !== null || listeners.size === 0) return
      due = setTimeout(publish, EVERY_MS)
      due.unref()
    },
  }
}
