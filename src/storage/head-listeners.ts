import { areaOf, type EventArea, isEventType } from '../../ledger/events/catalogue.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'

export type HeadListeners = {
  readonly subscribe: SubscribeHead
  /** Calls the listeners of any of the areas, in the order of their subscriptions; null calls all. */
  notify(areas: ReadonlySet<EventArea> | null): void
}

/** Listeners for moves of the head. Subscribing or unsubscribing during a notification is safe. */
export function createHeadListeners(): HeadListeners {
  const listeners = new Map<
    symbol,
    { readonly onMoved: () => void; readonly areas: readonly EventArea[] | null }
  >()
  return {
    subscribe(onMoved, areas) {
      const key = Symbol('head listener')
      listeners.set(key, { onMoved, areas: areas ?? null })
      return () => listeners.delete(key)
    },
    notify(moved) {
      if (moved?.size === 0) return
      for (const { onMoved, areas } of [...listeners.values()]) {
        if (moved === null || areas === null || areas.some((area) => moved.has(area))) onMoved()
      }
    },
  }
}

export function areasOf(facts: readonly { readonly type: string }[]): ReadonlySet<EventArea> {
  return new Set(facts.flatMap(({ type }) => (isEventType(type) ? [areaOf(type)] : [])))
}
