import type { TimelinePage } from '../../projections/timeline-page.ts'

export type PagingCounters = ReturnType<typeof createPagingCounters>

/** Counts timeline pages since the start of the process. */
export function createPagingCounters(since: string) {
  const counts = {
    since,
    initialPageRequests: 0,
    olderPageRequests: 0,
    eventsSent: 0,
    expandedEvents: 0,
    maxPageEvents: 0,
  }
  return {
    /** Counts a sent page; `older` for all but the newest page. */
    count({ events, expandedEvents }: TimelinePage, older: boolean): void {
      if (older) counts.olderPageRequests += 1
      else counts.initialPageRequests += 1
      counts.eventsSent += events.length
      counts.expandedEvents += expandedEvents
      counts.maxPageEvents = Math.max(counts.maxPageEvents, events.length)
    },
    read: () => ({ ...counts }),
  }
}
