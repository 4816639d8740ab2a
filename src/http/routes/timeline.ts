import type { LedgerReader } from '../../../ledger/reader.ts'
import { type SearchHit, type TimelineSearch, withoutMarks } from '../../../projections/search.ts'
import { decodeCursor, type PageCursor, type TimelineQueries } from '../../../projections/timeline-page.ts'
import type { Erasures } from '../../erasing/erasures.ts'
import type { ErasureTarget } from '../../erasing/targets.ts'
import type { PagingCounters } from '../../operations/paging-counters.ts'
import { periodOf } from '../../text/period.ts'
import { seqOf } from '../contract/list-query.ts'
import { eraseEvent, eraseSpan, page, search, span } from '../contract/timeline.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes } from '../server/env.ts'
import { invalidCursor, Refusal } from '../server/problem.ts'
import { tooMuch } from './erasures.ts'

/** Parses a cursor from a query. Throws the refusal for a malformed one. */
export function cursorOf(before: string | undefined): PageCursor | null {
  if (before === undefined) return null
  const cursor = decodeCursor(before)
  if (!cursor) throw invalidCursor('before')
  return cursor
}

export type TimelineRouteDeps = {
  readonly timeline: TimelineQueries
  readonly ledger: LedgerReader
  readonly paging: PagingCounters
  readonly pageEvents: () => number
  /** Runs in the query thread, on an index that includes every durable fact. */
  readonly search: (search: TimelineSearch) => Promise<readonly SearchHit[]>
  readonly eraseNow: Erasures['eraseNow']
  readonly nowMs: () => number
  /** The owner's time zone, which defines the days of a search. */
  readonly timezone: () => string
}

export function timelineRoutes(deps: TimelineRouteDeps): RouteModule {
  const routes = createRoutes()
  const { timeline, ledger, paging } = deps

  /** Erases a target and returns how many events lost their words; 0 if none had any left. */
  async function erased(target: ErasureTarget): Promise<number> {
    const outcome = await deps.eraseNow(target)
    if ('erased' in outcome) return outcome.erased
    if (outcome.status === 'too_much') throw tooMuch(outcome.limit)
    return 0
  }

  routes.openapi(page, (c) => {
    const { limit = deps.pageEvents(), before } = c.req.valid('query')
    const cursor = cursorOf(before)
    const found = timeline.page({ limit, cursor, conversationId: null })
    paging.count(found, cursor !== null)
    return c.json(found, 200)
  })

  routes.openapi(search, async (c) => {
    const { q, limit, cursor, channel = null, ...days } = c.req.valid('query')
    const { from, to, fromAt, untilAt } = periodOf(days, { nowMs: deps.nowMs(), timezone: deps.timezone() })
    const found = await deps.search({
      query: q,
      limit: limit + 1,
      beforeSeq: seqOf(cursor),
      filters: { channel, fromAt, untilAt },
    })
    const shown = found.slice(0, limit)
    const events = new Map(ledger.readSeqs(shown.map(({ seq }) => seq)).map((event) => [event.seq, event]))
    const hits = shown.flatMap(({ seq, snippet }) => {
      const event = events.get(seq)
      if (!event || event.type === 'unknown' || event.erased) return []
      const { at, type, channel, conversationId, spanId } = event
      const marked = snippet
      return [{ seq, at, type, channel, conversationId, spanId, snippet: withoutMarks(snippet), marked }]
    })
    const nextCursor = found.length > limit ? String(shown.at(-1)?.seq) : null
    return c.json({ hits, from: from ?? undefined, to: to ?? undefined, nextCursor }, 200)
  })

  routes.openapi(span, (c) => {
    const found = timeline.span(c.req.valid('param').id)
    if (!found) throw new Refusal(404, 'unknown_span', 'There is no such span.')
    return c.json({ ...found.span, events: found.events }, 200)
  })

  routes.openapi(eraseSpan, async (c) => {
    const { id } = c.req.valid('param')
    if (timeline.spanSeqs(id).length === 0) throw new Refusal(404, 'unknown_span', 'There is no such span.')
    return c.json({ erased: await erased({ kind: 'span', id }) }, 200)
  })

  routes.openapi(eraseEvent, async (c) => {
    const { seq } = c.req.valid('param')
    if (!ledger.rowAt(seq)) throw new Refusal(404, 'unknown_event', 'There is no such event.')
    return c.json({ erased: await erased({ kind: 'message', id: String(seq) }) }, 200)
  })
  return { routes }
}
