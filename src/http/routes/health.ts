import type { IncomingMessage } from 'node:http'
import type { Check } from '../../operations/readiness/checks.ts'
import type { Checks, Health } from '../../operations/readiness/readiness.ts'
import { buildInfoRoute, healthRoute, publicUrlRoute, readyRoute, reportRoute } from '../contract/health.ts'
import type { RouteModule } from '../server/app.ts'
import type { BuildInfo } from '../server/build-info.ts'
import { createRoutes } from '../server/env.ts'
import { Refusal } from '../server/problem.ts'

/** Runs all checks. */
export type CheckHealth = () => Promise<Health>

/** Checks that must pass for the service to be ready, in the order in which `/ready` reports them. */
const NEEDED = ['ledger', 'projections', 'settings', 'reactors'] as const

export function healthRoutes(options: {
  readonly health: CheckHealth
  /** Whether a request has a session; false if that cannot be determined. */
  readonly hasSession: (incoming: IncomingMessage) => boolean
  readonly buildInfo: BuildInfo
  readonly publicUrl: () => string | null
}): RouteModule {
  const routes = createRoutes()
  routes.openapi(healthRoute, (c) => c.json({ status: 'ok' as const }, 200))
  routes.openapi(readyRoute, async (c) => {
    const { checks } = await options.health()
    const isOwner = options.hasSession(c.env.incoming)
    const shown = isOwner ? checks : withoutDetails(checks)
    const failing = NEEDED.find((name) => !checks[name].ok)
    if (failing) {
      const { detail } = shown[failing]
      throw new Refusal(
        503,
        'not_ready',
        `Not ready: ${failing}${detail ? `: ${detail.replace(/\.$/, '')}` : ''}.`,
        {
          extra: { checks: shown },
        },
      )
    }
    return c.json({ status: 'ready' as const, checks: shown }, 200)
  })
  routes.openapi(reportRoute, async (c) => {
    const { reactors, ...rest } = await options.health()
    return c.json({ ...rest, reactors }, 200)
  })
  routes.openapi(buildInfoRoute, (c) => c.json(options.buildInfo, 200))
  routes.openapi(publicUrlRoute, (c) => c.json({ publicUrl: options.publicUrl() }, 200))
  return { routes }
}

/** Strangers see only which checks fail, because details may name hosts, models and paths. */
function withoutDetails({ ledger, projections, reactors, settings, disk, model, telephony }: Checks): Checks {
  const only = ({ ok }: Check): Check => ({ ok })
  return {
    ledger: only(ledger),
    projections: only(projections),
    reactors: only(reactors),
    settings: only(settings),
    disk: only(disk),
    model: only(model),
    ...(telephony === undefined ? {} : { telephony: only(telephony) }),
  }
}
