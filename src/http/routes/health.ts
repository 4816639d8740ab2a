import type { IncomingMessage } from 'node:http'
import { msg } from '../../language/msg.ts'
import type { Checks, Health } from '../../operations/readiness/readiness.ts'
import { buildInfoRoute, healthRoute, publicUrlRoute, readyRoute, reportRoute } from '../contract/health.ts'
import type { CoreDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { Refusal } from '../server/problem.ts'
import { tokenFromCookies } from '../server/session-cookie.ts'

/** Runs all checks. */
export type CheckHealth = () => Promise<Health>

/** Checks that must pass for the service to be ready, in the order in which `/ready` reports them. */
const NEEDED = ['ledger', 'projections', 'settings', 'reactors'] as const

/** The first check that keeps the service from being ready. */
export const failingCheck = (checks: Checks) => NEEDED.find((name) => !checks[name].ok)

export function healthRoutes(routes: Routes, deps: CoreDeps): void {
  const { checkHealth, sessions, halt, buildInfo, settings } = deps
  const halted = () => (halt.isHalted() ? { halt: halt.state() } : {})
  /** Also false while the settings cannot be read, so that `/ready` still works. */
  function hasSession({ headers }: IncomingMessage): boolean {
    const token = tokenFromCookies(headers.cookie)
    try {
      return token !== null && sessions.find(token) !== null
    } catch {
      return false
    }
  }

  routes.openapi(healthRoute, (c) => c.json({ status: 'ok' as const }, 200))
  routes.openapi(readyRoute, async (c) => {
    const { checks } = await checkHealth()
    const isOwner = hasSession(c.env.incoming)
    const shown = isOwner ? checks : withoutDetails(checks)
    const failing = failingCheck(checks)
    if (failing) {
      const { detail } = shown[failing]
      throw new Refusal(
        503,
        'not_ready',
        msg`Not ready: ${failing}${detail ? `: ${detail.replace(/\.$/, '')}` : ''}.`,
        {
          extra: { checks: shown },
        },
      )
    }
    return c.json({ status: 'ready' as const, checks: shown, ...(isOwner ? halted() : {}) }, 200)
  })
  routes.openapi(reportRoute, async (c) => {
    const { reactors, ...rest } = await checkHealth()
    return c.json({ ...rest, ...halted(), reactors }, 200)
  })
  routes.openapi(buildInfoRoute, (c) => c.json(buildInfo, 200))
  routes.openapi(publicUrlRoute, (c) => c.json({ publicUrl: settings.get('PUBLIC_URL') }, 200))
}

/** Strangers see only which checks fail, because details may name hosts, models and paths. */
function withoutDetails(checks: Checks): Checks {
  return Object.fromEntries(Object.entries(checks).map(([name, { ok }]) => [name, { ok }])) as Checks
}
