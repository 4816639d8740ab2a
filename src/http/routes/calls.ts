import { createRoute, z } from '@hono/zod-openapi'
import type { RouteModule } from '../app.ts'
import { json, refusals } from '../describe.ts'
import { createRoutes } from '../env.ts'
import { Refusal } from '../problem.ts'

const hangUp = createRoute({
  method: 'post',
  path: '/api/calls/current/hangup',
  tags: ['Telephony'],
  summary: 'Hangs up the present call',
  responses: { 200: json(z.object({ hungUp: z.literal(true) }), 'It is being hung up'), ...refusals(409) },
})

/** The present call, as the browser may deal with it. */
export function callRoutes(deps: { readonly hangUp: () => boolean }): RouteModule {
  const routes = createRoutes()
  routes.openapi(hangUp, (c) => {
    if (!deps.hangUp()) throw new Refusal(409, 'no_call', 'There is no call.')
    return c.json({ hungUp: true as const }, 200)
  })
  return { routes }
}
