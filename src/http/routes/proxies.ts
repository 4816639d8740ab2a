import { read } from '../contract/proxies.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes } from '../server/env.ts'
import type { UndeclaredProxies } from '../server/undeclared-proxies.ts'

/** Shows the owner which proxies TRUSTED_PROXY does not list. */
export function proxyRoutes(proxies: Pick<UndeclaredProxies, 'list'>): RouteModule {
  const routes = createRoutes()
  routes.openapi(read, (c) => c.json({ undeclared: proxies.list() }, 200))
  return { routes }
}
