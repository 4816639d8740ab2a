import { createRoute, z } from '@hono/zod-openapi'
import type { TimerPlace } from '../../../projections/timers.ts'
import { toInstant } from '../../timers/local-time.ts'
import { InvalidRecurrence } from '../../timers/schedule.ts'
import type { SetOutcome, Timer, Timers } from '../../timers/timers.ts'
import { body, json, refusals } from '../contract/describe.ts'
import { integerParam } from '../contract/list-query.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes } from '../server/env.ts'
import { invalidCursor, invalidField, Refusal } from '../server/problem.ts'

const MAX_LISTED = 500

const timerSchema = z
  .object({
    id: z.string(),
    title: z.string(),
    status: z.enum(['active', 'done', 'cancelled']),
    dueAt: z.string(),
    recurrence: z.string().nullable(),
    timezone: z.string(),
    missedPolicy: z.enum(['fire_once', 'skip']),
    by: z.enum(['owner', 'delegate']),
    createdAt: z.string(),
    lastFiredAt: z.string().nullable(),
  })
  .openapi('Timer')

const list = createRoute({
  method: 'get',
  path: '/api/timers',
  tags: ['Timers'],
  summary: 'List timers: active ones first, then those that are over',
  request: {
    query: z.object({
      limit: integerParam(1, MAX_LISTED).default(100),
      cursor: z.string().max(200).optional(),
    }),
  },
  responses: {
    200: json(z.object({ timers: z.array(timerSchema), nextCursor: z.string().nullable() }), 'Timers'),
    ...refusals(400),
  },
})

const set = createRoute({
  method: 'post',
  path: '/api/timers',
  tags: ['Timers'],
  summary: 'Set a timer that wakes the delegate',
  request: {
    body: body(
      z.object({
        title: z.string().trim().min(1).max(500),
        at: z.string().max(40).optional().describe("ISO 8601; without an offset, in the owner's local time"),
        recurrence: z
          .string()
          .min(1)
          .max(100)
          .optional()
          .describe("A cron expression in the owner's time zone"),
        missedPolicy: z.enum(['fire_once', 'skip']).default('fire_once'),
      }),
    ),
  },
  responses: { 201: json(timerSchema, 'The timer; `Location` holds its address'), ...refusals(400) },
})

const cancel = createRoute({
  method: 'delete',
  path: '/api/timers/{id}',
  tags: ['Timers'],
  summary: 'Cancel a timer',
  request: { params: z.object({ id: z.string() }) },
  responses: { 204: { description: 'Cancelled' }, ...refusals(404, 409) },
})

/** Scheduled moments that wake the delegate. */
export function timerRoutes(deps: { readonly timers: Timers; readonly timezone: () => string }): RouteModule {
  const routes = createRoutes()
  const { timers } = deps
  const origin = { by: 'owner', channel: 'chat' } as const

  routes.openapi(list, (c) => {
    const { limit, cursor } = c.req.valid('query')
    const found = timers.list(limit + 1, cursor === undefined ? null : placeOf(cursor))
    const shown = found.slice(0, limit)
    const last = found.length > limit ? shown.at(-1) : undefined
    return c.json({ timers: shown.map(present), nextCursor: last ? cursorOf(last) : null }, 200)
  })

  routes.openapi(set, async (c) => {
    const { title, at, recurrence = null, missedPolicy } = c.req.valid('json')
    const dueAt = at === undefined ? null : toInstant(at, deps.timezone())
    if (at !== undefined && !dueAt) throw invalidField('at', 'must be an ISO 8601 time')
    if (!dueAt && recurrence === null) throw invalidField('at', 'is required without a recurrence')
    const outcome = await timers
      .set({ title, dueAt, recurrence, missedPolicy }, origin)
      .catch((error: unknown): SetOutcome => {
        if (error instanceof InvalidRecurrence) throw invalidField('recurrence', 'is not a cron expression')
        throw error
      })
    if (outcome.status === 'refused')
      throw invalidField('at', outcome.reason === 'past' ? 'is in the past' : 'never occurs')
    return c.json(present(outcome.timer), 201, { Location: `/api/timers/${outcome.timer.id}` })
  })

  routes.openapi(cancel, async (c) => {
    const { id } = c.req.valid('param')
    if (!timers.get(id)) throw new Refusal(404, 'unknown_timer', 'There is no such timer.')
    if (!(await timers.cancel([id], origin)))
      throw new Refusal(409, 'timer_over', 'The timer is already over.')
    return c.body(null, 204)
  })
  return { routes }
}

function present({ setSeq: _setSeq, ...timer }: Timer) {
  return timer
}

function cursorOf({ id, status, dueAt }: Timer): string {
  return `${status === 'active' ? 0 : 1}.${Date.parse(dueAt)}.${id}`
}

/** Parses a cursor. Throws the refusal for a malformed one. */
function placeOf(cursor: string): TimerPlace {
  const [, over, dueAtMs, timerId = ''] = /^([01])\.(\d{1,15})\.([\w-]+)$/.exec(cursor) ?? []
  if (over === undefined) throw invalidCursor('cursor')
  return { over: over === '0' ? 0 : 1, dueAt: new Date(Number(dueAtMs)).toISOString(), timerId }
}
