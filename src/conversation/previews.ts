/** What a running turn has said so far: a preview of facts to come, lost with the process and never stored. */
export type PreviewEvent =
  | { readonly type: 'working'; readonly turnId: string }
  | { readonly type: 'delta'; readonly turnId: string; readonly text: string }
  /** The words so far do not stand (a round ended in tool calls, or a retry began): start over. */
  | { readonly type: 'reset'; readonly turnId: string }

export type Previews = {
  publish(event: PreviewEvent): void
  /** Hears every preview from now on. Returns the function that ends it. */
  subscribe(listener: (event: PreviewEvent) => void): () => void
  /** The turn that runs now and its words so far, for who comes late. */
  current(): { readonly turnId: string; readonly text: string } | null
  end(turnId: string): void
}

/** Carries streamed words from the turn that runs to whoever watches. */
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
