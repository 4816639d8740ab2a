import { halt, read, release } from '../contract/halt.ts'
import type { CoreDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'

/** Any session may halt the delegate. Its release needs the password. */
export function haltRoutes(routes: Routes, deps: CoreDeps): void {
  routes.openapi(read, (c) => c.json(deps.halt.state(), 200))
  routes.openapi(halt, async (c) => {
    await deps.halt.halt('browser')
    return c.json(deps.halt.state(), 200)
  })
  routes.openapi(release, async (c) => {
    const { password } = c.req.valid('json')
    await deps.stepUp.confirmed(c, { password }, deps.halt.release, 401)
    return c.json(deps.halt.state(), 200)
  })
}
