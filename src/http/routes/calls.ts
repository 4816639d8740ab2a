import { msg } from '../../language/msg.ts'
import { current, hangUp } from '../contract/calls.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict } from '../server/problem.ts'

export function callRoutes(routes: Routes, { phone }: RouteDeps): void {
  routes.openapi(current, (c) => c.json({ call: phone.live.current() }, 200))
  routes.openapi(hangUp, (c) => {
    if (!phone.hangUp()) throw conflict('no_call', msg`There is no call.`)
    return c.json({ hungUp: true as const }, 200)
  })
}
