import type { IncomingMessage } from 'node:http'
import { createRoute, z } from '@hono/zod-openapi'
import type { Check, Checks, Health } from '../../readiness/readiness.ts'
import type { RouteModule } from '../app.ts'
import type { BuildInfo } from '../build-info.ts'
import { json, refusals } from '../describe.ts'
import { createRoutes } from '../env.ts'
import { Refusal } from '../problem.ts'

const checkSchema = z.object({
  ok: z.boolean(),
  detail: z.string().optional().describe('Why, and what to do; with a session alone'),
})

const checksSchema = z.object({
  ledger: checkSchema,
  projections: checkSchema,
  reactors: checkSchema,
  settings: checkSchema,
  disk: checkSchema.describe('Free space; reported only'),
  model: checkSchema.describe('By the last turn; reported only'),
  telephony: checkSchema.optional().describe('By the last text; absent while not configured; reported only'),
})

const healthSchema = z
  .object({
    checks: checksSchema,
    reactors: z.array(
      z.object({
        name: z.string(),
        state: z.enum(['ok', 'failing', 'standing_still']),
        waiting: z.int(),
        since: z.string().nullable().describe('When the oldest of what waits was asked for'),
        lastFailure: z.object({ at: z.string(), message: z.string(), inARow: z.int() }).nullable(),
      }),
    ),
    freeBytes: z.number().nullable(),
    lastText: z.object({ at: z.string(), failure: z.string().nullable() }).nullable(),
  })
  .openapi('Health')

/** Asks each part. */
export type CheckHealth = () => Promise<Health>

/** The checks without which the service cannot do its work, as `/ready` names the first that fails. */
const NEEDED = ['ledger', 'projections', 'settings', 'reactors'] as const

const healthRoute = createRoute({
  method: 'get',
  path: '/health',
  tags: ['Service'],
  summary: 'Whether the process lives',
  security: [],
  responses: { 200: json(z.object({ status: z.literal('ok') }), 'It does') },
})

const readyRoute = createRoute({
  method: 'get',
  path: '/ready',
  tags: ['Service'],
  summary: 'Whether the service can do its work; otherwise the failing check is named',
  security: [],
  responses: {
    200: json(
      z.object({
        status: z.literal('ready'),
        checks: checksSchema,
      }),
      'It can',
    ),
    ...refusals(503),
  },
})

const reportRoute = createRoute({
  method: 'get',
  path: '/api/session/health',
  tags: ['Service'],
  summary: 'Each check, the backlogs and last failures, free disk space, and how the last text went',
  responses: { 200: json(healthSchema, 'The state of a second ago at most') },
})

const buildInfoRoute = createRoute({
  method: 'get',
  path: '/build-info.json',
  tags: ['Service'],
  summary: 'Which build this is',
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
  summary: 'The origin under which the service is reached from the internet',
  security: [],
  responses: { 200: json(z.object({ publicUrl: z.string().nullable() }), 'The origin; null while unset') },
})

export function healthRoutes(options: {
  readonly health: CheckHealth
  /** Whether a request comes with a session; false where that cannot be found out. */
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

/** What a stranger learns: which checks fail. Details may name hosts, models and paths. */
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
