import { areaOf, type EventArea, isEventType } from '../../ledger/events/catalogue.ts'
import type { SubscribeHead } from '../../ledger/follow.ts'

export type HeadListeners = {
  readonly subscribe: SubscribeHead
  /** Calls those who asked for any of the areas, in the order of their subscriptions; null calls all. */
  tell(areas: ReadonlySet<EventArea> | null): void
}

/** Who is to hear that the head moved. A listener that comes or goes while others are told does not disturb them. */
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
    tell(moved) {
      if (moved?.size === 0) return
      for (const { onMoved, areas } of [...listeners.values()]) {
        if (moved === null || areas === null || areas.some((area) => moved.has(area))) onMoved()
      }
    },
  }
}

/** The areas of facts that were appended. */
export function areasOf(facts: readonly { readonly type: string }[]): ReadonlySet<EventArea> {
  return new Set(facts.flatMap(({ type }) => (isEventType(type) ? [areaOf(type)] : [])))
}
