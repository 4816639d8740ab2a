import { z } from '@hono/zod-openapi'
import { channelSchema } from '../../../ledger/event.ts'
import { english } from '../../language/message.ts'
import { answer, tagged } from './describe.ts'
import { integerParam, listQuery, nextCursor } from './list-query.ts'

const { del, get, post } = tagged('Timeline')

const MAX_PAGE_EVENTS = 5000
const DEFAULT_HITS = 50
const MAX_HITS = 200

export const eventSchema = z
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

export type TimelineEvent = z.output<typeof eventSchema>

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
    nextCursor,
    hasMore: z.boolean(),
    expandedEvents: z.int(),
  })
  .openapi('TimelinePage')

export type TimelinePage = z.output<typeof pageSchema>

/** The query of a timeline page. `before` is a page's `nextCursor`, or a seq. */
export const pageQuerySchema = z.object({
  limit: integerParam(1, MAX_PAGE_EVENTS).optional(),
  before: z.string().max(64).optional(),
})

export const page = get('/api/timeline', {
  summary: 'Get a timeline page over all conversations',
  request: { query: pageQuerySchema },
  responses: answer(pageSchema, 'The newest events before the cursor; no span is cut', 400),
})

const periodSchema = z.enum(['today', 'last_7_days', 'last_30_days', 'this_year'])

export type NamedPeriod = z.output<typeof periodSchema>

const hitSchema = z.object({
  seq: z.int(),
  at: z.string(),
  type: z.string(),
  channel: z.string().nullable(),
  conversationId: z.string().nullable(),
  spanId: z.string().nullable(),
  snippet: z.string(),
  marked: z.string(),
})

export type SearchHit = z.output<typeof hitSchema>
export type Channel = z.output<typeof channelSchema>

export const search = get('/api/timeline/search', {
  summary: 'Search the words of the timeline, newest first',
  description:
    'Filters by channel and by period: a named one, or from one day to another, both inclusive. Without words, finds ' +
    "all that passes a filter, and nothing without one. Leaves out what was forgotten or is not to be kept. Days are in the owner's time zone. Request later pages with " +
    'the `from` and `to` of the first response, so that midnight in between changes nothing.',
  request: {
    query: z
      .object({
        q: z.string().max(1000),
        channel: channelSchema.optional(),
        period: periodSchema.optional(),
        from: z.iso.date().optional(),
        to: z.iso.date().optional(),
        ...listQuery(DEFAULT_HITS, MAX_HITS),
      })
      .refine(({ period, from, to }) => period === undefined || (from === undefined && to === undefined), {
        path: ['period'],
        message: english`cannot be combined with from and to`,
      }),
  },
  responses: answer(
    z.object({
      hits: z.array(hitSchema),
      from: z.string().optional(),
      to: z.string().optional(),
      nextCursor,
    }),
    'Hits, with the days searched as `from` and `to`; `marked` is the snippet with the matching words between U+0002 and U+0003',
    400,
  ),
})

export const span = get('/api/timeline/spans/{id}', {
  summary: 'Get a whole span with its events',
  request: { params: z.object({ id: z.string() }) },
  responses: answer(spanSchema.extend({ events: z.array(eventSchema).readonly() }), 'The span', 404),
})

export const eraseSpan = del('/api/timeline/spans/{id}', {
  summary: 'Erase the words of a span, and everything derived from them, for good',
  request: { params: z.object({ id: z.string() }) },
  responses: answer(z.object({ erased: z.int() }), 'The number of events whose words were erased', 404),
})

export const eraseEvent = del('/api/timeline/events/{seq}', {
  summary: 'Erase the words of an event, and everything derived from them, for good',
  request: { params: z.object({ seq: integerParam(1, Number.MAX_SAFE_INTEGER) }) },
  responses: answer(z.object({ erased: z.int() }), 'The number of events whose words were erased', 400, 404),
})

export const keepMessage = post('/api/timeline/events/{seq}/keep', {
  summary: 'Keep a message in memory after all, although it was not kept for secrecy',
  request: { params: z.object({ seq: integerParam(1, Number.MAX_SAFE_INTEGER) }) },
  responses: answer(
    z.object({ kept: z.literal(true) }),
    'It may be learned and recalled again',
    400,
    404,
    409,
  ),
})
