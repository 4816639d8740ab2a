import { describeCarriage } from '../phone/carriage.ts'
import { checkTelephony } from '../phone/line/check.ts'
import { ownerNumbersOf } from '../settings/party.ts'
import { addFeatureRoutes } from './feature-routes.ts'
import type { Features, RouteDeps } from './features.ts'
import { callSocketRoutes } from './routes/call-socket.ts'
import { chatSocketRoute } from './routes/chat-socket.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { createProviderWebhooks } from './routes/provider-webhook.ts'
import type { TestConnection } from './routes/settings.ts'
import { talkSocketRoute } from './routes/talk-socket.ts'
import { createHttp } from './server/http.ts'
import { createIntrusionCounter } from './server/intrusion-counter.ts'
import { createMonitorCheck } from './server/monitor.ts'
import { Refusal } from './server/problem.ts'

const ENDING = new Refusal(
  503,
  'stopping',
  'Delegate is restarting. Your message is kept, and is answered after that.',
  { headers: { 'Retry-After': '5' } },
)

/** Wires the HTTP layer: access, routes, sockets, static files. */
export function buildHttp(options: Features) {
  const { operations, owner, storage, telephony, log, nowMs, newId } = options
  const { settings } = owner
  const stopping = new AbortController()
  const ending = new AbortController()
  const intrusions = createIntrusionCounter({ append: storage.append, nowMs, log })
  const isMonitor = createMonitorCheck(options.metricsToken)
  const readiness = operations.readiness({
    directory: options.directory,
    isStopping: () => stopping.signal.aborted,
    isLearningStalled: options.memory.isStalled,
    answering: options.answering,
    hasTelephony: () => telephony.credentials() !== null,
    lacksPassword: owner.account.lacksPassword,
    backups: options.backups.health,
  })
  const deps: RouteDeps = {
    ...options,
    intrusions,
    webhooks: createProviderWebhooks({ settings, intrusions, devRoutes: options.devRoutes }),
    stopping: stopping.signal,
    ending: ending.signal,
  }
  const server = createHttp({
    ...deps,
    ...owner,
    addRoutes(routes) {
      addFeatureRoutes(routes, deps)
      metricsRoutes(routes, {
        ...options,
        isMonitor,
        version: options.buildInfo.version,
        checkHealth: readiness.check,
        openSockets: () => server.openSockets(),
      })
    },
    isMonitor,
    socketRoutes: [chatSocketRoute(deps), ...callSocketRoutes(deps), talkSocketRoute(deps)],
    checkHealth: readiness.check,
    checkSecurity: operations.security({
      ...options,
      isolation: options.tasks.isolation,
      lacksPassword: owner.account.lacksPassword,
      signInFactors: owner.factors.kinds,
    }),
    testConnection: connectionTest(options),
    onFault: storage.reportFault,
    newId,
    monotonicMs: () => performance.now(),
  })

  return {
    listen: server.listen,
    /** Makes `/ready` fail and ends the streams. */
    drain: () => stopping.abort(),
    async close(graceMs: number): Promise<void> {
      ending.abort(ENDING)
      await server.close(graceMs)
      await intrusions.close()
      await readiness.close()
    },
  }
}

/** Tests a service with its current settings. */
function connectionTest({ model, telephony, owner: { settings } }: Features): TestConnection {
  return async (service, signal) => {
    if (service === 'model') {
      const { ok, steps } = await model().check(signal)
      return { ok, steps: [...steps] }
    }
    return checkTelephony({
      client: telephony.client,
      number: settings.get('TELEPHONY_PHONE_NUMBER'),
      applicationSid: settings.get('TELEPHONY_APP_SID'),
      publicUrl: settings.get('PUBLIC_URL'),
      ownerNumbers: ownerNumbersOf(settings),
      calls: describeCarriage(model(), {
        wanted: settings.get('PHONE_CARRIAGE'),
        hasAccount: telephony.credentials() !== null,
      }),
      fetch,
      signal,
    })
  }
}
