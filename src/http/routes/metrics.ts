import { resultWithin } from '../../lib/waits.ts'
import { metricsRoute } from '../contract/metrics.ts'
import type { Features } from '../features.ts'
import type { Routes } from '../server/env.ts'
import type { IsMonitor } from '../server/monitor.ts'
import { type CheckHealth, failingCheck } from './health.ts'

/** Below the time that Prometheus waits for an answer: a disk that hangs must show, not hide everything. */
const LIMIT_MS = 4_000

export function metricsRoutes(
  routes: Routes,
  deps: Pick<Features, 'metrics' | 'storage'> & {
    readonly isMonitor: IsMonitor
    readonly version: string
    readonly checkHealth: CheckHealth
    readonly openSockets: () => number
  },
): void {
  const { metrics, storage, isMonitor, version } = deps
  routes.openAPIRegistry.registerPath(metricsRoute)
  routes.get('/metrics', async (c, next) => {
    // The owner in a browser: not found, as for anyone else.
    if (!isMonitor(c.env.incoming)) return next()
    const [health, status] = await Promise.all([inTime(deps.checkHealth()), inTime(storage.status())])
    const { text, contentType } = await metrics.scrape({
      health,
      isReady: health !== null && failingCheck(health.checks) === undefined,
      status,
      openSockets: deps.openSockets(),
      version,
    })
    return c.body(text, 200, { 'content-type': contentType })
  })
}

/** Null if it takes too long, or fails. */
const inTime = <T>(answer: Promise<T>): Promise<T | null> =>
  resultWithin(
    LIMIT_MS,
    answer.catch(() => null),
  )
