import type { LiveCall } from '../../phone/lifecycle/live-calls.ts'
import { current, hangUp } from '../contract/calls.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes } from '../server/env.ts'
import { Refusal } from '../server/problem.ts'

export function callRoutes(deps: {
  readonly hangUp: () => boolean
  readonly current: () => LiveCall | null
}): RouteModule {
  const routes = createRoutes()
  routes.openapi(current, (c) => c.json({ call: deps.current() }, 200))
  routes.openapi(hangUp, (c) => {
    if (!deps.hangUp()) throw new Refusal(409, 'no_call', 'There is no call.')
    return c.json({ hungUp: true as const }, 200)
  })
  return { routes }
}
