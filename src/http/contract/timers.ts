import { z } from '@hono/zod-openapi'
import { answer, body, calendar, created, done as empty, refusals, tagged } from './describe.ts'
import { integerParam, nextCursor } from './list-query.ts'

const { del, get, post, put } = tagged('Timers')

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
    open: z
      .string()
      .nullable()
      .describe('The last occurrence that fired or was missed, while it is neither done nor snoozed'),
    settled: z
      .enum(['done', 'snoozed'])
      .nullable()
      .describe('What became of the last occurrence; null while it is open, or before the first'),
    snoozes: z
      .object({ timerId: z.string(), occurrence: z.string() })
      .nullable()
      .describe('The occurrence that this timer reminds of again'),
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
      open: z
        .enum(['true', 'false'])
        .optional()
        .describe('Lists only those whose last occurrence is open, the latest first, on one page'),
    }),
  },
  responses: answer(z.object({ timers: z.array(timerSchema), nextCursor }), 'Timers', 400),
})

const newTimerSchema = z.object({
  title: z.string().trim().min(1).max(500),
  at: z.string().max(40).optional().describe("ISO 8601; without an offset, in the owner's local time"),
  recurrence: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe(
      "A cron expression in the owner's time zone. Steps over days, months and weekdays count from the first occurrence: `0 9 * * 4%2` is every second Thursday. They are returned with an offset that says which: `4%2+1`. A last day ends the recurrence: `0 8 * * * until 2026-12-03`.",
    ),
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

const params = z.object({ id: z.string() })

export const read = get('/api/timers/{id}', {
  summary: 'Read a timer',
  request: { params },
  responses: answer(timerSchema, 'The timer', 404),
})

const timerChangeSchema = newTimerSchema
  .pick({ title: true, at: true, pasted: true })
  .extend({ recurrence: newTimerSchema.shape.recurrence.nullable() })
  .partial()

export type TimerChange = z.input<typeof timerChangeSchema>

export const change = put('/api/timers/{id}', {
  summary: 'Change the title, the next time or the recurrence of an active timer',
  request: { params, body: body(timerChangeSchema) },
  responses: answer(timerSchema, 'The timer', 400, 404, 409),
})

export const cancel = del('/api/timers/{id}', {
  summary: 'Cancel a timer',
  request: { params },
  responses: empty('Cancelled', 404, 409),
})

const occurrence = z.iso
  .datetime()
  .optional()
  .describe('The occurrence that is meant; by default the last one')

const snoozeSchema = z.object({
  minutes: z.int().min(1).max(525_600).optional(),
  until: z.string().max(40).optional().describe("ISO 8601; without an offset, in the owner's local time"),
  occurrence,
})

export type Snooze = z.input<typeof snoozeSchema>

export const snooze = post('/api/timers/{id}/snooze', {
  summary: 'Remind again of an open occurrence',
  description:
    'Sets a timer for it. Repeated, it returns the timer that the first snooze of the occurrence set.',
  request: { params, body: body(snoozeSchema) },
  responses: answer(timerSchema, 'The timer that reminds again', 400, 404, 409),
})

export const done = post('/api/timers/{id}/done', {
  summary: 'Tick off an open occurrence',
  description: 'An occurrence that is no longer open stays as it is.',
  request: { params, body: body(z.object({ occurrence })) },
  responses: empty('Done', 404, 409),
})

export const calendarFile = get('/api/timers.ics', {
  summary: 'Download open and coming reminders as a calendar',
  responses: calendar('iCalendar'),
})

const feedSchema = z
  .object({ madeAt: z.string().nullable().describe('Null while there is no address') })
  .openapi('CalendarFeed')

export const feed = get('/api/timers.feed', {
  summary: 'Whether reminders have a private calendar address',
  responses: answer(feedSchema, 'The address itself is shown only when it is made'),
})

export const makeFeed = post('/api/timers.feed', {
  summary: 'Make a private calendar address, in place of the one before',
  responses: created(z.object({ url: z.string() }), 'The address, which is not shown again'),
})

export const dropFeed = del('/api/timers.feed', {
  summary: 'Switch the private calendar address off',
  responses: empty('Off'),
})

export const calendarFeed = get('/calendar/{file}', {
  summary: 'Read open and coming reminders as a calendar, at a private address',
  security: [],
  request: { params: z.object({ file: z.string() }) },
  responses: { ...calendar('iCalendar'), ...refusals(404) },
})
