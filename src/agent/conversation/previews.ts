/** The streamed words of a running turn. Never stored, and lost if the process ends. */
export type PreviewEvent =
  | { readonly type: 'working'; readonly turnId: string }
  | { readonly type: 'delta'; readonly turnId: string; readonly text: string }
  /** Discard the words so far: the round ended in tool calls, or a retry began. */
  | { readonly type: 'reset'; readonly turnId: string }

export type Previews = ReturnType<typeof createPreviews>

/** Publishes the streamed words of the running turn to its subscribers. */
export function createPreviews() {
  const listeners = new Set<(event: PreviewEvent) => void>()
  let current: { turnId: string; text: string } | null = null
  return {
    publish(event: PreviewEvent): void {
      if (event.type === 'delta' && current?.turnId === event.turnId) current.text += event.text
      else if (event.type !== 'delta') current = { turnId: event.turnId, text: '' }
      for (const listener of [...listeners]) listener(event)
    },
    /** Returns a function that unsubscribes. */
    subscribe(listener: (event: PreviewEvent) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** The running turn and its words so far, for a late subscriber. */
    current: (): { readonly turnId: string; readonly text: string } | null => current,
    end(turnId: string): void {
      if (current?.turnId === turnId) current = null
    },
  }
}
