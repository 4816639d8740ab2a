import { createRoute, z } from '@hono/zod-openapi'
import type { RouteModule } from '../app.ts'
import type { BuildInfo } from '../build-info.ts'
import { json, refusals } from '../describe.ts'
import { createRoutes } from '../env.ts'
import { Refusal } from '../problem.ts'

const checkSchema = z.object({ ok: z.boolean(), detail: z.string().optional() })

/** One part's state; `detail` is public, so it holds nothing private. */
export type ReadinessCheck = z.output<typeof checkSchema>

/** Asks each part. `model` is reported and never makes the service unready. */
export type Readiness = () => Promise<{
  readonly ledger: ReadinessCheck
  readonly projections: ReadinessCheck
  readonly reactors: ReadinessCheck
  readonly model: ReadinessCheck
}>

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
        checks: z.object({
          ledger: checkSchema,
          projections: checkSchema,
          reactors: checkSchema,
          model: checkSchema,
        }),
      }),
      'It can',
    ),
    ...refusals(503),
  },
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
  readonly readiness: Readiness
  readonly buildInfo: BuildInfo
  readonly publicUrl: () => string | null
}): RouteModule {
  const routes = createRoutes()
  routes.openapi(healthRoute, (c) => c.json({ status: 'ok' as const }, 200))
  routes.openapi(readyRoute, async (c) => {
    const checks = await options.readiness()
    const failing = Object.entries(checks).find(([name, check]) => name !== 'model' && !check.ok)
    if (failing) {
      const [name, { detail }] = failing
      throw new Refusal(503, 'not_ready', `Not ready: ${name}${detail ? `: ${detail}` : ''}.`, {
        extra: { checks },
      })
    }
    return c.json({ status: 'ready' as const, checks }, 200)
  })
  routes.openapi(buildInfoRoute, (c) => c.json(options.buildInfo, 200))
  routes.openapi(publicUrlRoute, (c) => c.json({ publicUrl: options.publicUrl() }, 200))
  return { routes }
}
