/** The streamed words of a running turn. Never stored, and lost if the process ends. */
export type PreviewEvent =
  | { readonly type: 'working'; readonly turnId: string }
  | { readonly type: 'delta'; readonly turnId: string; readonly text: string }
  /** Discard the words so far: the round ended in tool calls, or a retry began. */
  | { readonly type: 'reset'; readonly turnId: string }

export type Previews = {
  publish(event: PreviewEvent): void
  /** Receives every preview from now on. Returns a function that unsubscribes. */
  subscribe(listener: (event: PreviewEvent) => void): () => void
  /** The running turn and its words so far, for a late subscriber. */
  current(): { readonly turnId: string; readonly text: string } | null
  end(turnId: string): void
}

/** Publishes the streamed words of the running turn to its subscribers. */
export function createPreviews(): Previews {
  const listeners = new Set<(event: PreviewEvent) => void>()
  let current: { turnId: string; text: string } | null = null
  return {
    publish(event) {
      if (event.type === 'delta' && current?.turnId === event.turnId) current.text += event.text
      else if (event.type !== 'delta') current = { turnId: event.turnId, text: '' }
      for (const listener of [...listeners]) listener(event)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    current: () => current,
    end(turnId) {
      if (current?.turnId === turnId) current = null
    },
  }
}
