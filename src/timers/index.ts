import type { Placement } from '../storage/placement.ts'
import type { Storage } from '../storage/storage.ts'
import { createTimers } from './timers.ts'
import { timerTools } from './tools.ts'

/** Wires timers: their reactor, and the tools of the delegate. */
export function buildTimers(options: {
  readonly storage: Pick<Storage, 'append' | 'ledger' | 'views' | 'onHeadMoved'>
  readonly placement: Placement
  readonly timezone: () => string
  readonly nowMs: () => number
  readonly newId: () => string
  readonly onFault: (error: unknown) => void
}) {
  const { storage, placement, timezone, nowMs, newId, onFault } = options
  const { append, ledger, views, onHeadMoved } = storage
  const timers = createTimers({
    append,
    appendToConversation: (compose) => placement.appendToConversation('inner', compose),
    ledger,
    views,
    onHeadMoved,
    timezone,
    nowMs,
    newId,
    onFault,
  })
  return { ...timers, tools: timerTools(timers) }
}
