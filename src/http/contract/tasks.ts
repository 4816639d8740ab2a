import { z } from '@hono/zod-openapi'
import { MAX_PROMPT_CHARS, MAX_TITLE_CHARS } from '../../tasks/limits.ts'
import { answer, body, created, json, refusals, tagged } from './describe.ts'
import { listQuery, nextCursor } from './list-query.ts'

const { get, post } = tagged('Tasks')

const channelSchema = z.enum(['chat', 'sms', 'webhook'])

const deliverySchema = z
  .object({
    id: z.string(),
    channel: z.enum([...channelSchema.options, 'push']),
    status: z.enum(['waiting', 'attempted', 'delivered', 'failed', 'unknown']),
    requestedAt: z.string(),
    attemptedAt: z.string().nullable(),
    retryAt: z.string().nullable().describe('When the next attempt is due; null if there is none'),
    endedAt: z.string().nullable(),
    kind: z.string().nullable().describe('Why the last attempt failed'),
    maxAttempts: z.int(),
    fallbackOf: z.string().nullable().describe('The failed delivery that this one stands in for'),
    retryOf: z.string().nullable().describe('The delivery that the owner retried with this one'),
    attempts: z
      .array(
        z.object({
          attempt: z.int(),
          startedAt: z.string(),
          endedAt: z.string().nullable(),
          outcome: z.enum(['delivered', 'failed', 'unknown']).nullable(),
          kind: z.string().nullable(),
        }),
      )
      .readonly(),
  })
  .openapi('Delivery')

export type Delivery = z.output<typeof deliverySchema>

const isolationWay = z.enum(['bubblewrap', 'user', 'none'])

const isolationSchema = z
  .object({
    way: isolationWay.nullable().describe('Null if the chosen way does not work, so no program is started'),
    reason: z.string().nullable().describe('Why programs are not isolated, or not started'),
    remedy: z.string().nullable(),
  })
  .openapi('TaskIsolation')

export type TaskIsolation = z.output<typeof isolationSchema>

const taskFields = {
  id: z.string(),
  title: z.string(),
  status: z.enum(['queued', 'running', 'finished', 'failed', 'cancelled']),
  notify: channelSchema,
  by: z.enum(['owner', 'delegate']),
  timeoutMinutes: z.int(),
  retryOf: z.string().nullable(),
  dispatchedAt: z.string(),
  startedAt: z.string().nullable(),
  endedAt: z.string().nullable(),
  durationMs: z.int().nullable(),
  kind: z.string().nullable().describe('Why it failed'),
  exitCode: z.int().nullable(),
  isolation: isolationWay
    .nullable()
    .describe('What keeps its program from the data; null if unknown or not started'),
  progressCount: z.int(),
  latestProgress: z.object({ at: z.string(), text: z.string() }).nullable(),
  deliveryState: z
    .enum(['none', 'pending', 'delivered', 'fallback', 'failed', 'unknown'])
    .describe(
      'Whether the outcome reached the owner. none: nothing to deliver, or not yet; pending: in progress; delivered: on the chosen channel; fallback: on another one; failed: on no channel; unknown: it may have arrived',
    ),
  deliveries: z.array(deliverySchema).readonly(),
}

const taskSchema = z.object(taskFields).openapi('Task')

export type Task = z.output<typeof taskSchema>

const wholeTaskSchema = z
  .object({ ...taskFields, prompt: z.string(), outcome: z.string().nullable() })
  .openapi('WholeTask')

export const list = get('/api/tasks', {
  summary: 'List tasks of the coding assistant with their deliveries, newest first',
  request: { query: z.object(listQuery(50, 200)) },
  responses: answer(
    z.object({
      configured: z.boolean().describe('Whether a coding assistant is set up'),
      isolation: isolationSchema.nullable().describe('Null without a coding assistant'),
      tasks: z.array(taskSchema),
      nextCursor,
    }),
    'Tasks',
    400,
  ),
})

export const dispatch = post('/api/tasks', {
  summary: 'Dispatch a task to the coding assistant',
  request: {
    body: body(
      z.object({
        title: z.string().trim().min(1).max(MAX_TITLE_CHARS),
        prompt: z.string().trim().min(1).max(MAX_PROMPT_CHARS),
        notify: channelSchema
          .optional()
          .describe('How the outcome reaches the owner; defaults to DELIVERY_CHANNEL'),
      }),
    ),
  },
  responses: created(wholeTaskSchema, 'The task; `Location` holds its address', 400, 409),
})

const idParam = { params: z.object({ id: z.string() }) }

export const read = get('/api/tasks/{id}', {
  summary: 'Get a task with its prompt, outcome and deliveries',
  request: idParam,
  responses: answer(wholeTaskSchema, 'The task', 404),
})

export const cancel = post('/api/tasks/{id}/cancel', {
  summary: 'Cancel a task; its program and all child processes are ended',
  request: idParam,
  responses: answer(wholeTaskSchema, 'The task', 404, 409),
})

export const retry = post('/api/tasks/{id}/retry', {
  summary: 'Retry failed or cancelled work as a new task, or retry a delivery that did not arrive',
  request: {
    ...idParam,
    body: {
      content: {
        'application/json': {
          schema: z.object({
            what: z
              .enum(['work', 'delivery'])
              .optional()
              .describe('By default the work, if it failed or was cancelled; else the delivery'),
          }),
        },
      },
    },
  },
  responses: {
    200: json(wholeTaskSchema, 'The task; its outcome is being delivered again'),
    201: json(wholeTaskSchema, 'The new task; `Location` holds its address'),
    ...refusals(400, 404, 409),
  },
})

export const callback = post('/api/copilot/callback', {
  summary: 'Receive a report from a hook of the coding assistant, authenticated by the unguessable task id',
  security: [],
  request: {
    body: body(
      z.object({
        hookType: z
          .string()
          .min(1)
          .max(100)
          .describe('`sessionEnd`, `errorOccurred` or `postToolUse`; others are ignored'),
        taskId: z.string().min(1).max(200),
        payload: z.record(z.string(), z.unknown()),
      }),
    ),
  },
  responses: answer(
    z.object({ ok: z.literal(true), action: z.enum(['recorded', 'ignored']) }),
    'Recorded, or ignored: unknown task or hook, task not running, duplicate report, or too many reports',
    400,
    413,
  ),
})
