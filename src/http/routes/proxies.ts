import { createRoute, z } from '@hono/zod-openapi'
import { json } from '../contract/describe.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes } from '../server/env.ts'
import type { UndeclaredProxies } from '../server/undeclared-proxies.ts'

const read = createRoute({
  method: 'get',
  path: '/api/proxies',
  tags: ['Settings'],
  summary: 'List addresses that send forwarding headers but are not in TRUSTED_PROXY',
  responses: {
    200: json(z.object({ undeclared: z.array(z.string()) }).openapi('Proxies'), 'Seen since the start'),
  },
})

/** Shows the owner which proxies TRUSTED_PROXY does not list. */
export function proxyRoutes(proxies: Pick<UndeclaredProxies, 'list'>): RouteModule {
  const routes = createRoutes()
  routes.openapi(read, (c) => c.json({ undeclared: [...proxies.list()] }, 200))
  return { routes }
}
