import { report, series } from '../contract/operations.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'

export function operationRoutes(routes: Routes, { operations, agent, memory }: RouteDeps): void {
  const reportOf = operations.report({
    capsule: () => agent.sessionContext().capsule,
    deduplication: memory.counters.read,
  })
  routes.openapi(report, (c) => c.json(reportOf(c.req.valid('query').hours), 200))
  routes.openapi(series, (c) => c.json(operations.series(c.req.valid('query').hours), 200))
}
