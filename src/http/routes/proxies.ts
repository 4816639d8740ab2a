import { createRoute, z } from '@hono/zod-openapi'
import type { RouteModule } from '../app.ts'
import { json } from '../describe.ts'
import { createRoutes } from '../env.ts'
import type { UndeclaredProxies } from '../undeclared-proxies.ts'

const read = createRoute({
  method: 'get',
  path: '/api/proxies',
  tags: ['Settings'],
  summary: 'Which addresses send forwarding headers although TRUSTED_PROXY does not list them',
  responses: {
    200: json(z.object({ undeclared: z.array(z.string()) }).openapi('Proxies'), 'Seen since the start'),
  },
})

/** Tells the owner that a proxy stands in front which is not declared. */
export function proxyRoutes(proxies: Pick<UndeclaredProxies, 'list'>): RouteModule {
  const routes = createRoutes()
  routes.openapi(read, (c) => c.json({ undeclared: [...proxies.list()] }, 200))
  return { routes }
}
