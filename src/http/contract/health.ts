import { z } from '@hono/zod-openapi'
import { answer, tagged } from './describe.ts'
import { haltSchema } from './halt.ts'

const { get } = tagged('Service')

const checkSchema = z.object({
  ok: z.boolean(),
  detail: z.string().optional().describe('Why it failed and what to do; only with a session'),
})

const checksSchema = z.object({
  ledger: checkSchema,
  postgres: checkSchema
    .optional()
    .describe('Whether PostgreSQL has the ledger, too; informational; absent if not configured'),
  projections: checkSchema,
  reactors: checkSchema,
  settings: checkSchema,
  secrets: checkSchema
    .optional()
    .describe('Fails if stored secrets cannot be read without secret.key; informational; absent otherwise'),
  disk: checkSchema.describe('Free disk space; informational'),
  model: checkSchema.describe('Whether the last turn succeeded; informational'),
  backups: checkSchema
    .extend({ off: z.literal(true).optional() })
    .describe('Whether the last backup is recent and could be restored; informational'),
  telephony: checkSchema
    .optional()
    .describe('Whether the last text was sent; informational; absent if not configured'),
})

export type Checks = z.output<typeof checksSchema>

const healthSchema = z
  .object({
    checks: checksSchema,
    reactors: z
      .array(
        z.object({
          name: z.string(),
          state: z.enum(['ok', 'failing', 'standing_still']),
          waiting: z.int(),
          since: z.string().nullable().describe('When the oldest waiting work was requested'),
          lastFailure: z.object({ at: z.string(), message: z.string(), inARow: z.int() }).nullable(),
        }),
      )
      .readonly(),
    halt: haltSchema.optional(),
    freeBytes: z.number().nullable(),
    verified: z
      .object({ at: z.string(), outcome: z.enum(['sound', 'damaged', 'failed']) })
      .optional()
      .describe('The last verification of the whole ledger; absent until the first one after a start ends'),
    lastText: z.object({ at: z.string(), failure: z.string().nullable() }).nullable(),
  })
  .openapi('Health')

export type Health = z.output<typeof healthSchema>
export type Reactor = Health['reactors'][number]

const buildInfoSchema = z.object({
  name: z.string(),
  version: z.string(),
  /** Null outside a git checkout. */
  commit: z.string().nullable(),
  /** When the web app was built; null before the first build. */
  builtAt: z.iso.datetime().nullable(),
  node: z.string(),
})

export type BuildInfo = z.output<typeof buildInfoSchema>

export const healthRoute = get('/health', {
  summary: 'Check that the process is alive',
  security: [],
  responses: answer(z.object({ status: z.literal('ok') }), 'The process is alive'),
})

export const readyRoute = get('/ready', {
  summary: 'Check that the service is ready; a 503 names the failing check',
  security: [],
  responses: answer(
    z.object({
      status: z.literal('ready'),
      checks: checksSchema,
      halt: haltSchema.optional(),
    }),
    'The service is ready',
    503,
  ),
})

export const reportRoute = get('/api/session/health', {
  summary: 'Get all checks, backlogs, last failures, free disk space and the outcome of the last text',
  responses: answer(healthSchema, 'The state, at most one second old'),
})

export const buildInfoRoute = get('/build-info.json', {
  summary: 'Get the version and build',
  security: [],
  responses: answer(buildInfoSchema, 'The build'),
})

export const publicUrlRoute = get('/public-url', {
  summary: 'Get the origin of the service on the internet',
  security: [],
  responses: answer(z.object({ publicUrl: z.string().nullable() }), 'The origin; null if unset'),
})
