import { read } from '../contract/proxies.ts'
import type { CoreDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'

/** Shows the owner which proxies TRUSTED_PROXY does not list. */
export function proxyRoutes(routes: Routes, { proxies }: CoreDeps): void {
  routes.openapi(read, (c) => c.json({ undeclared: proxies.list() }, 200))
}
