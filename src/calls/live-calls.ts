import type { Talk } from '../voice/talk.ts'

/** The call that goes on now, as whoever watches it in a browser is told. A preview: the facts follow. */
export type LiveCall = Talk & {
  readonly callSid: string
  readonly party: 'owner' | 'guest'
  readonly from: string
  readonly conversationId: string | null
  readonly spanId: string
  readonly offeredAt: string
  /** Null while its stream is awaited. */
  readonly connectedAt: string | null
}

export type LiveCalls = {
  current(): LiveCall | null
  /** Hears of each change, a few times a second at most. Returns the function that ends it. */
  subscribe(listener: (call: LiveCall | null) => void): () => void
  /** Something may have changed. Costs nothing while nobody watches. */
  changed(): void
}

/** Nobody reads faster, and the event loop belongs to the voice. */
const EVERY_MS = 100

/** Tells of the call that goes on: at most every so often, and only where something is different. */
export function createLiveCalls(options: { readonly read: () => LiveCall | null }): LiveCalls {
  const listeners = new Set<(call: LiveCall | null) => void>()
  let due: NodeJS.Timeout | null = null
  let told = 'null'

  function tell(): void {
    due = null
    const call = options.read()
    const text = JSON.stringify(call)
    if (text === told) return
    told = text
    for (const listener of [...listeners]) listener(call)
  }

  return {
    current: options.read,
    subscribe(listener) {
      // What was told before anybody watched is unknown to this one, who asks for the present state itself.
      if (listeners.size === 0) told = JSON.stringify(options.read())
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    changed() {
      if (due !== null || listeners.size === 0) return
      due = setTimeout(tell, EVERY_MS)
      due.unref()
    },
  }
}
