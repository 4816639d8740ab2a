import { raise, spending } from '../contract/spending.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'

const DAYS = 30

export function spendingRoutes(routes: Routes, { operations: { money } }: RouteDeps): void {
  routes.openapi(spending, (c) => c.json(money.report(c.req.valid('query').days), 200))
  routes.openapi(raise, async (c) => {
    await money.raise(c.req.valid('json').amountMicros)
    return c.json(money.report(DAYS), 200)
  })
}
