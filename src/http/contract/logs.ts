import { z } from '@hono/zod-openapi'
import { logLevels } from '../../lib/log-lines.ts'
import { answer, eventStream, refusals, tagged } from './describe.ts'
import { integerParam } from './list-query.ts'

const { get } = tagged('Logs')

const MAX_LINES = 2_000
export const LINES_PER_READ = 200
const levelSchema = z.enum(logLevels).default('trace').describe('The lowest level to include')
export const idSchema = integerParam(0, Number.MAX_SAFE_INTEGER)

export const lineSchema = z
  .object({
    id: z.int(),
    at: z.iso.datetime(),
    level: z.enum(logLevels),
    message: z.string(),
    fields: z.record(z.string(), z.unknown()),
  })
  .openapi('LogLine')

export type LogLine = z.output<typeof lineSchema>
export type LogLevel = LogLine['level']

export const pageRoute = get('/api/logs', {
  summary: 'List the newest log lines, or those after a given line; secrets are masked',
  request: {
    query: z.object({
      limit: integerParam(1, MAX_LINES).default(LINES_PER_READ),
      level: levelSchema,
      after: idSchema.optional(),
    }),
  },
  responses: answer(
    z.object({
      lines: z.array(lineSchema).readonly(),
      dropped: z.int().describe('Number of older lines that are no longer kept'),
    }),
    'Lines, oldest first',
    400,
  ),
})

export const streamRoute = get('/api/logs/stream', {
  summary: 'Stream the log; `Last-Event-ID` or `after` is the last line already seen',
  request: { query: z.object({ level: levelSchema, after: idSchema.optional() }) },
  responses: {
    200: eventStream('Server-sent events: `line` with a LogLine, `dropped` with a count'),
    ...refusals(400),
  },
})
