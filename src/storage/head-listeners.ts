import { areaOf, type EventArea, isEventType } from '../../ledger/events/catalogue.ts'

/** Listeners for moves of the head. Subscribing or unsubscribing during a notification is safe. */
export function createHeadListeners() {
  const listeners = new Set<{
    readonly onMoved: () => void
    readonly areas: readonly EventArea[] | undefined
  }>()
  return {
    subscribe(onMoved: () => void, areas?: readonly EventArea[]): () => void {
      const listener = { onMoved, areas }
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Calls the listeners of any of the areas, in the order of their subscriptions; null calls all. */
    notify(moved: ReadonlySet<EventArea> | null): void {
      if (moved?.size === 0) return
      for (const { onMoved, areas } of [...listeners]) {
        if (moved === null || !areas || areas.some((area) => moved.has(area))) onMoved()
      }
    },
  }
}

export function areasOf(facts: readonly { readonly type: string }[]): ReadonlySet<EventArea> {
  return new Set(facts.flatMap(({ type }) => (isEventType(type) ? [areaOf(type)] : [])))
}
