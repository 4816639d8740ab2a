import { createRoute, z } from '@hono/zod-openapi'
import { channelSchema } from '../../../ledger/event.ts'
import type { LedgerReader } from '../../../ledger/reader.ts'
import { type SearchHit, type TimelineSearch, withoutMarks } from '../../../projections/search.ts'
import { decodeCursor, type PageCursor, type TimelineQueries } from '../../../projections/timeline-page.ts'
import type { Erasures } from '../../erasing/erasures.ts'
import type { ErasureTarget } from '../../erasing/targets.ts'
import type { PagingCounters } from '../../operations/paging-counters.ts'
import { PERIODS, periodOf } from '../../timeline/period.ts'
import { json, refusals } from '../contract/describe.ts'
import { integerParam, listQuery, seqOf } from '../contract/list-query.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes } from '../server/env.ts'
import { invalidCursor, Refusal } from '../server/problem.ts'
import { jsonText } from '../server/responses.ts'
import { tooMuch } from './erasures.ts'

const MAX_PAGE_EVENTS = 5000
const DEFAULT_HITS = 50
const MAX_HITS = 200

const eventSchema = z
  .object({
    seq: z.int(),
    id: z.string(),
    type: z.string(),
    at: z.string(),
    channel: z.string().nullable(),
    actor: z.string(),
    conversationId: z.string().nullable(),
    spanId: z.string().nullable(),
    turnId: z.string().nullable(),
    internal: z.boolean(),
    payload: z.record(z.string(), z.unknown()),
  })
  .openapi('TimelineEvent')

const spanSchema = z
  .object({
    id: z.string(),
    kind: z.string().nullable(),
    conversationId: z.string().nullable(),
    startSeq: z.int(),
    endSeq: z.int(),
    startedAt: z.string(),
    endedAt: z.string().nullable(),
    reason: z.string().nullable(),
    eventCount: z.int(),
  })
  .openapi('TimelineSpan')

export const pageSchema = z
  .object({
    events: z.array(eventSchema).readonly(),
    spans: z.array(spanSchema).readonly(),
    nextCursor: z.string().nullable(),
    hasMore: z.boolean(),
    expandedEvents: z.int(),
  })
  .openapi('TimelinePage')

/** The query of a timeline page. `before` is a page's `nextCursor`, or a seq. */
export const pageQuerySchema = z.object({
  limit: integerParam(1, MAX_PAGE_EVENTS).optional(),
  before: z.string().max(64).optional(),
})

/** Parses a cursor from a query. Throws the refusal for a malformed one. */
export function cursorOf(before: string | undefined): PageCursor | null {
  if (before === undefined) return null
  const cursor = decodeCursor(before)
  if (!cursor) throw invalidCursor('before')
  return cursor
}

const page = createRoute({
  method: 'get',
  path: '/api/timeline',
  tags: ['Timeline'],
  summary: 'Get a timeline page over all conversations',
  request: { query: pageQuerySchema },
  responses: {
    200: json(pageSchema, 'The newest events before the cursor; no span is cut'),
    ...refusals(400),
  },
})

const search = createRoute({
  method: 'get',
  path: '/api/timeline/search',
  tags: ['Timeline'],
  summary: 'Search the words of the timeline, newest first',
  description:
    'Filters by channel and by period: a named one, or from one day to another, both inclusive. Days are in the ' +
    "owner's time zone. Request later pages with the `from` and `to` of the first response, so that midnight in " +
    'between changes nothing.',
  request: {
    query: z
      .object({
        q: z.string().max(1000),
        channel: channelSchema.optional(),
        period: z.enum(PERIODS).optional(),
        from: z.iso.date().optional(),
        to: z.iso.date().optional(),
        ...listQuery(DEFAULT_HITS, MAX_HITS),
      })
      .refine(({ period, from, to }) => period === undefined || (from === undefined && to === undefined), {
        path: ['period'],
        message: 'cannot be combined with from and to',
      }),
  },
  responses: {
    200: json(
      z.object({
        hits: z.array(
          z.object({
            seq: z.int(),
            at: z.string(),
            type: z.string(),
            channel: z.string().nullable(),
            conversationId: z.string().nullable(),
            spanId: z.string().nullable(),
            snippet: z.string(),
            marked: z.string(),
          }),
        ),
        from: z.string().optional(),
        to: z.string().optional(),
        nextCursor: z.string().nullable(),
      }),
      'Hits, with the days searched as `from` and `to`; `marked` is the snippet with the matching words between U+0002 and U+0003',
    ),
    ...refusals(400),
  },
})

const span = createRoute({
  method: 'get',
  path: '/api/timeline/spans/{id}',
  tags: ['Timeline'],
  summary: 'Get a whole span with its events',
  request: { params: z.object({ id: z.string() }) },
  responses: {
    200: json(spanSchema.extend({ events: z.array(eventSchema).readonly() }), 'The span'),
    ...refusals(404),
  },
})

const eraseSpan = createRoute({
  method: 'delete',
  path: '/api/timeline/spans/{id}',
  tags: ['Timeline'],
  summary: 'Erase the words of a span, and everything derived from them, for good',
  request: { params: z.object({ id: z.string() }) },
  responses: {
    200: json(z.object({ erased: z.int() }), 'The number of events whose words were erased'),
    ...refusals(404),
  },
})

const eraseEvent = createRoute({
  method: 'delete',
  path: '/api/timeline/events/{seq}',
  tags: ['Timeline'],
  summary: 'Erase the words of an event, and everything derived from them, for good',
  request: { params: z.object({ seq: integerParam(1, Number.MAX_SAFE_INTEGER) }) },
  responses: {
    200: json(z.object({ erased: z.int() }), 'The number of events whose words were erased'),
    ...refusals(400, 404),
  },
})

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
    return jsonText(c, found.json)
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
