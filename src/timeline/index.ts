import type { LedgerEvent } from '../../ledger/event.ts'
import { createMemoryQueries } from '../../projections/memory-queries.ts'
import type { TimelineSearch } from '../../projections/search.ts'
import { createTimelineQueries } from '../../projections/timeline-page.ts'
import { createTurnQueries } from '../../projections/turns.ts'
import type { FunctionThread } from '../storage/function-thread.ts'
import { caughtUpWithin } from '../storage/index-wait.ts'
import type { Storage } from '../storage/storage.ts'
import type { queryFunctions } from './query-functions.ts'
import { isForgotten, SAID, timelineTools } from './tools.ts'

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
  const { repeatsBarred } = createMemoryQueries(views)
  const { isReplaced } = createTurnQueries(views)
  return {
    ...createTimelineQueries(views, ledger),
    search,
    /** Whether the words of an event stay out of the owner's search: barred, unless by changing the message. */
    isLeftOut: (event: LedgerEvent) =>
      SAID.test(event.type) &&
      isForgotten(event, ledger, repeatsBarred) &&
      !(event.turnId !== null && isReplaced(event.turnId)),
    tools: timelineTools({ ledger, search, repeatsBarred, isReplaced }),
  }
}
