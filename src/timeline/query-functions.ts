import { searchTimeline, type TimelineSearch } from '../../projections/search.ts'
import type { Sources, ThreadFunctions } from '../storage/function-thread.ts'

/** What the timeline asks the query thread. */
export const queryFunctions = {
  searchTimeline:
    ({ views }: Sources) =>
    (args: TimelineSearch) =>
      searchTimeline(views, args),
} as const satisfies ThreadFunctions
