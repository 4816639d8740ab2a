import type { TimelineSearch } from '../projections/search.ts'
import { createTimelineQueries } from '../projections/timeline-page.ts'
import { createTurnQueries } from '../projections/turns.ts'
import { createEnding } from './conversation/ending.ts'
import { createIdleWatch } from './conversation/idle-watch.ts'
import { createPlacement } from './conversation/placement.ts'
import { createPreviews } from './conversation/previews.ts'
import type { Foundation } from './foundation.ts'
import { caughtUpWithin } from './index-wait.ts'
import { createPagingCounters } from './operations/paging-counters.ts'

/** The conversation, wired: where facts belong in it, how it is read, how it ends. */
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
    /** Finds what is durable now, too: the index catches up first, unless that takes long. */
    async searchTimeline(search: TimelineSearch) {
      await caughtUpWithin(storage.catchUpLagging)
      return queries.ask('searchTimeline', search)
    },
    idleWatch: createIdleWatch({
      append,
      ending,
      ledger,
      views,
      idleMs: () => settings.get('SESSION_IDLE_MINUTES') * 60_000,
      onFault: foundation.faultsOf('idle spans'),
      lookEveryMs: foundation.waits.idleLookMs,
    }),
  }
}
