import type { IncomingMessage } from 'node:http'
import { createRoute, z } from '@hono/zod-openapi'
import type { Check, Checks, Health } from '../../operations/readiness/readiness.ts'
import { json, refusals } from '../contract/describe.ts'
import type { RouteModule } from '../server/app.ts'
import type { BuildInfo } from '../server/build-info.ts'
import { createRoutes } from '../server/env.ts'
import { Refusal } from '../server/problem.ts'

const checkSchema = z.object({
  ok: z.boolean(),
  detail: z.string().optional().describe('Why it failed and what to do; only with a session'),
})

const checksSchema = z.object({
  ledger: checkSchema,
  projections: checkSchema,
  reactors: checkSchema,
  settings: checkSchema,
  disk: checkSchema.describe('Free disk space; informational'),
  model: checkSchema.describe('Whether the last turn succeeded; informational'),
  telephony: checkSchema
    .optional()
    .describe('Whether the last text was sent; informational; absent if not configured'),
})

const healthSchema = z
  .object({
    checks: checksSchema,
    reactors: z.array(
      z.object({
        name: z.string(),
        state: z.enum(['ok', 'failing', 'standing_still']),
        waiting: z.int(),
        since: z.string().nullable().describe('When the oldest waiting work was requested'),
        lastFailure: z.object({ at: z.string(), message: z.string(), inARow: z.int() }).nullable(),
      }),
    ),
    freeBytes: z.number().nullable(),
    lastText: z.object({ at: z.string(), failure: z.string().nullable() }).nullable(),
  })
  .openapi('Health')

/** Runs all checks. */
export type CheckHealth = () => Promise<Health>

/** Checks that must pass for the service to be ready, in the order in which `/ready` reports them. */
const NEEDED = ['ledger', 'projections', 'settings', 'reactors'] as const

const healthRoute = createRoute({
  method: 'get',
  path: '/health',
  tags: ['Service'],
  summary: 'Check that the process is alive',
  security: [],
  responses: { 200: json(z.object({ status: z.literal('ok') }), 'The process is alive') },
})

const readyRoute = createRoute({
  method: 'get',
  path: '/ready',
  tags: ['Service'],
  summary: 'Check that the service is ready; a 503 names the failing check',
  security: [],
  responses: {
    200: json(
      z.object({
        status: z.literal('ready'),
        checks: checksSchema,
      }),
      'The service is ready',
    ),
    ...refusals(503),
  },
})

const reportRoute = createRoute({
  method: 'get',
  path: '/api/session/health',
  tags: ['Service'],
  summary: 'Get all checks, backlogs, last failures, free disk space and the outcome of the last text',
  responses: { 200: json(healthSchema, 'The state, at most one second old') },
})

const buildInfoRoute = createRoute({
  method: 'get',
  path: '/build-info.json',
  tags: ['Service'],
  summary: 'Get the version and build',
  security: [],
  responses: {
    200: json(
      z.object({
        name: z.string(),
        version: z.string(),
        commit: z.string().nullable(),
        builtAt: z.iso.datetime().nullable(),
        node: z.string(),
      }),
      'The build',
    ),
  },
})

const publicUrlRoute = createRoute({
  method: 'get',
  path: '/public-url',
  tags: ['Service'],
  summary: 'Get the origin of the service on the internet',
  security: [],
  responses: { 200: json(z.object({ publicUrl: z.string().nullable() }), 'The origin; null if unset') },
})

export function healthRoutes(options: {
  readonly health: CheckHealth
  /** Whether a request has a session; false if that cannot be determined. */
  readonly hasSession: (incoming: IncomingMessage) => boolean
  readonly buildInfo: BuildInfo
  readonly publicUrl: () => string | null
}): RouteModule {
  const routes = createRoutes()
  routes.openapi(healthRoute, (c) => c.json({ status: 'ok' as const }, 200))
  routes.openapi(readyRoute, async (c) => {
    const { checks } = await options.health()
    const isOwner = options.hasSession(c.env.incoming)
    const shown = isOwner ? checks : withoutDetails(checks)
    const failing = NEEDED.find((name) => !checks[name].ok)
    if (failing) {
      const { detail } = shown[failing]
      throw new Refusal(
        503,
        'not_ready',
        `Not ready: ${failing}${detail ? `: ${detail.replace(/\.$/, '')}` : ''}.`,
        {
          extra: { checks: shown },
        },
      )
    }
    return c.json({ status: 'ready' as const, checks: shown }, 200)
  })
  routes.openapi(reportRoute, async (c) => {
    const { reactors, ...rest } = await options.health()
    return c.json({ ...rest, reactors: [...reactors] }, 200)
  })
  routes.openapi(buildInfoRoute, (c) => c.json(options.buildInfo, 200))
  routes.openapi(publicUrlRoute, (c) => c.json({ publicUrl: options.publicUrl() }, 200))
  return { routes }
}

/** Strangers see only which checks fail, because details may name hosts, models and paths. */
function withoutDetails({ ledger, projections, reactors, settings, disk, model, telephony }: Checks): Checks {
  const only = ({ ok }: Check): Check => ({ ok })
  return {
    ledger: only(ledger),
    projections: only(projections),
    reactors: only(reactors),
    settings: only(settings),
    disk: only(disk),
    model: only(model),
    ...(telephony === undefined ? {} : { telephony: only(telephony) }),
  }
}
