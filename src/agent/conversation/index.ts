import { createTurnQueries } from '../../../projections/turns.ts'
import type { Foundation } from '../../foundation.ts'
import { createPagingCounters } from '../../operations/paging-counters.ts'
import { createPlacement } from '../../storage/placement.ts'
import { createEnding } from './ending.ts'
import { createIdleWatch } from './idle-watch.ts'
import { createPreviews } from './previews.ts'

/** Wires the conversation: the placement of facts, reading and ending. */
export function buildConversations(foundation: Foundation) {
  const { storage, settings, nowMs, newId } = foundation
  const { append, views } = storage
  const turns = createTurnQueries(views)
  const placement = createPlacement({ append, views, newId })
  const ending = createEnding({
    append,
    views,
    nowMs,
    isBusy: (spanId) => turns.unfinished().some((turn) => turn.spanId === spanId),
  })

  return {
    placement,
    ending,
    previews: createPreviews(),
    paging: createPagingCounters(new Date(nowMs()).toISOString()),
    idleWatch: createIdleWatch({
      append,
      ending,
      views,
      onHeadMoved: storage.onHeadMoved,
      idleMs: () => settings.get('SESSION_IDLE_MINUTES') * 60_000,
      onFault: foundation.faultsOf('idle spans'),
      lookEveryMs: foundation.waits.idleLookMs,
    }),
  }
}
