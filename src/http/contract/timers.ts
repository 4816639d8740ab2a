import { z } from '@hono/zod-openapi'
import { answer, body, created, done, tagged } from './describe.ts'
import { integerParam, nextCursor } from './list-query.ts'

const { del, get, post } = tagged('Timers')

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

export type Timer = z.output<typeof timerSchema>

export const list = get('/api/timers', {
  summary: 'List timers: active ones first, then those that are over',
  request: {
    query: z.object({
      q: z.string().max(1000).optional().describe('Words of the title'),
      limit: integerParam(1, MAX_LISTED).default(100),
      cursor: z.string().max(200).optional(),
    }),
  },
  responses: answer(z.object({ timers: z.array(timerSchema), nextCursor }), 'Timers', 400),
})

const newTimerSchema = z.object({
  title: z.string().trim().min(1).max(500),
  at: z.string().max(40).optional().describe("ISO 8601; without an offset, in the owner's local time"),
  recurrence: z.string().min(1).max(100).optional().describe("A cron expression in the owner's time zone"),
  missedPolicy: z.enum(['fire_once', 'skip']).default('fire_once'),
  pasted: z
    .boolean()
    .default(false)
    .describe(
      'Some of the title was pasted. A text message about it then waits for your confirmation, because the words may be those of others.',
    ),
})

export type NewTimer = z.input<typeof newTimerSchema>

export const set = post('/api/timers', {
  summary: 'Set a timer that wakes the delegate',
  request: {
    body: body(newTimerSchema),
  },
  responses: created(timerSchema, 'The timer; `Location` holds its address', 400),
})

export const cancel = del('/api/timers/{id}', {
  summary: 'Cancel a timer',
  request: { params: z.object({ id: z.string() }) },
  responses: done('Cancelled', 404, 409),
})
