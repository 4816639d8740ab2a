import type { createOperationsReport, createOperationsSeries } from '../../operations/report.ts'
import { report, series } from '../contract/operations.ts'
import type { RouteModule } from '../server/app.ts'
import { createRoutes } from '../server/env.ts'

export function operationRoutes(deps: {
  readonly report: ReturnType<typeof createOperationsReport>
  readonly series: ReturnType<typeof createOperationsSeries>
}): RouteModule {
  const routes = createRoutes()
  routes.openapi(report, (c) => c.json(deps.report(c.req.valid('query').hours), 200))
  routes.openapi(series, (c) => c.json(deps.series(c.req.valid('query').hours), 200))
  return { routes }
}
