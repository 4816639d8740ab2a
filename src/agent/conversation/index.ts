import type { TimelineSearch } from '../../../projections/search.ts'
import { createTimelineQueries } from '../../../projections/timeline-page.ts'
import { createTurnQueries } from '../../../projections/turns.ts'
import type { Foundation } from '../../foundation.ts'
import { createPagingCounters } from '../../operations/paging-counters.ts'
import { caughtUpWithin } from '../../storage/index-wait.ts'
import { createEnding } from './ending.ts'
import { createIdleWatch } from './idle-watch.ts'
import { createPlacement } from './placement.ts'
import { createPreviews } from './previews.ts'

/** Wires the conversation: the placement of facts, reading and ending. */
export function buildConversations(foundation: Foundation) {
  const { storage, queries, settings, nowMs, newId } = foundation
  const { append, ledger, views } = storage
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
    timeline: createTimelineQueries(views, ledger),
    paging: createPagingCounters(new Date(nowMs()).toISOString()),
    /** Waits briefly for the index to catch up, so that a search finds every durable fact. */
    async searchTimeline(search: TimelineSearch) {
      await caughtUpWithin(storage.catchUpLagging)
      return queries.ask('searchTimeline', search)
    },
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
