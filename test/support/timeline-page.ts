import type { PageQuery, TimelinePage, TimelineQueries } from '../../projections/timeline-page.ts'

/** A page of the timeline as its recipient parses it. */
export function pageOf(queries: TimelineQueries, query: Partial<PageQuery> = {}): TimelinePage {
  return JSON.parse(JSON.stringify(queries.page({ limit: 10, cursor: null, conversationId: null, ...query })))
}
