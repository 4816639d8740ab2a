import type { TimelinePage } from '../../projections/timeline-page.ts'

export type PagingCounters = {
  /** Counts a sent page; `older` for all but the newest page. */
  count(page: TimelinePage, older: boolean): void
  read(): {
    readonly since: string
    readonly initialPageRequests: number
    readonly olderPageRequests: number
    readonly eventsSent: number
    readonly expandedEvents: number
    readonly maxPageEvents: number
  }
}

/** Counts timeline pages since the start of the process. */
export function createPagingCounters(since: string): PagingCounters {
  let initialPageRequests = 0
  let olderPageRequests = 0
  let eventsSent = 0
  let expandedEvents = 0
  let maxPageEvents = 0
  return {
    count(page, older) {
      if (older) olderPageRequests += 1
      else initialPageRequests += 1
      eventsSent += page.events.length
      expandedEvents += page.expandedEvents
      maxPageEvents = Math.max(maxPageEvents, page.events.length)
    },
    read: () => ({
      since,
      initialPageRequests,
      olderPageRequests,
      eventsSent,
      expandedEvents,
      maxPageEvents,
    }),
  }
}
