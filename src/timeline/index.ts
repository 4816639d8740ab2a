import { createMemoryQueries } from '../../projections/memory-queries.ts'
import type { TimelineSearch } from '../../projections/search.ts'
import { createTimelineQueries } from '../../projections/timeline-page.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import type { FunctionThread } from '../storage/function-thread.ts'
import { caughtUpWithin } from '../storage/index-wait.ts'
import type { Storage } from '../storage/storage.ts'
import type { queryFunctions } from './query-functions.ts'
import { timelineTools } from './tools.ts'

/** The functions of the timeline in the query thread. */
export const timelineQueries = new URL('./query-functions.ts', import.meta.url)
export type TimelineQueryFunctions = typeof queryFunctions

export type Timeline = ReturnType<typeof buildTimeline>

/** Wires the timeline: its pages, its search, and the tools that look up the past. */
export function buildTimeline(options: {
  readonly storage: Pick<Storage, 'ledger' | 'views' | 'catchUpLagging'>
  readonly queries: FunctionThread<TimelineQueryFunctions>
}) {
  const { ledger, views, catchUpLagging } = options.storage
  /** Waits briefly for the index to catch up, so that a search finds every durable fact. */
  async function search(search: TimelineSearch) {
    await caughtUpWithin(catchUpLagging)
    return options.queries.ask('searchTimeline', search)
  }
  return {
    ...createTimelineQueries(views, ledger),
    search,
    tools: timelineTools({
      ledger,
      search,
      repeatsBarred: createMemoryQueries(views).repeatsBarred,
      isReplaced: createTurnQueries(views).isReplaced,
    }),
  }
}
