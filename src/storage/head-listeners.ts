import { areaOf, type EventArea, isEventType } from '../../ledger/events/catalogue.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'

export type HeadListeners = {
  readonly subscribe: SubscribeHead
  /** Calls the listeners of any of the areas, in the order of their subscriptions; null calls all. */
  notify(areas: ReadonlySet<EventArea> | null): void
}

/** Listeners for moves of the head. Subscribing or unsubscribing during a notification is safe. */
export function createHeadListeners(): HeadListeners {
  const listeners = new Set<{
    readonly onMoved: () => void
    readonly areas: readonly EventArea[] | undefined
  }>()
  return {
    subscribe(onMoved, areas) {
      const listener = { onMoved, areas }
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    notify(moved) {
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
