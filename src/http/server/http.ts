import type { IncomingMessage } from 'node:http'
import type { Log } from '../../lib/log.ts'
import type { LogLines } from '../../lib/log-lines.ts'
import type { OwnerState } from '../../settings/index.ts'
import { type CheckHealth, healthRoutes } from '../routes/health.ts'
import { installRoutes } from '../routes/install.ts'
import { logRoutes } from '../routes/logs.ts'
import { pageRoutes } from '../routes/pages.ts'
import { proxyRoutes } from '../routes/proxies.ts'
import { settingsRoutes, type TestConnection } from '../routes/settings.ts'
import { signInRoutes } from '../routes/sign-in.ts'
import { createAccessControl } from './access.ts'
import { createApp, type RouteModule } from './app.ts'
import type { BuildInfo } from './build-info.ts'
import { createCallerIdentification } from './caller.ts'
import { createHttpServer, type HttpServer, type ServerLimits } from './http-server.ts'
import type { IntrusionCounter } from './intrusion-counter.ts'
import { tokenFromCookies } from './session-cookie.ts'
import { createSignInThrottle } from './sign-in-throttle.ts'
import { createSockets, type SocketRoute } from './sockets.ts'
import { SHELL_FILE, type StaticFiles } from './static-files.ts'
import { createUndeclaredProxies } from './undeclared-proxies.ts'

const END_EXPIRED_SESSIONS_EVERY_MS = 60_000

/** Assembles the routes of the service itself, the given modules and sockets, and their server. */
export function createHttp(options: {
  readonly ownerState: Pick<OwnerState, 'account' | 'sessions' | 'settings'>
  readonly modules: readonly RouteModule[]
  readonly socketRoutes: readonly SocketRoute[]
  readonly intrusions: IntrusionCounter
  readonly health: CheckHealth
  readonly testConnection: TestConnection
  readonly buildInfo: BuildInfo
  readonly staticFiles: StaticFiles
  readonly log: Log
  readonly logLines: LogLines
  /** Called with each fault of the service itself that a request ran into. */
  readonly onFault: (error: unknown) => void
  /** Aborted when the service stops, so that endless streams end. */
  readonly stopping: AbortSignal
  readonly newId: () => string
  /** A monotonic clock. */
  readonly monotonicMs: () => number
  readonly limits?: ServerLimits
}): HttpServer {
  const { ownerState, intrusions, staticFiles, buildInfo, log, newId, limits } = options
  const { account, sessions, settings } = ownerState
  const proxies = createUndeclaredProxies({
    settings,
    onFound: (peer) =>
      log.warn(
        { peer, setting: 'TRUSTED_PROXY' },
        'Requests from this address carry forwarding headers, but TRUSTED_PROXY does not list it. If it is your proxy, add it to TRUSTED_PROXY. Until then, all clients behind it count as one.',
      ),
  })
  const identifyCaller = createCallerIdentification(settings, proxies.seen)
  const throttle = createSignInThrottle(options.monotonicMs)
  const access = createAccessControl({
    account,
    sessions,
    // The shell is served at the addresses of its pages only.
    isStaticFile: (path) => path !== SHELL_FILE && staticFiles.has(path),
  })
  /** Also false while the settings cannot be read, so that the health routes still work. */
  function hasSession({ headers }: IncomingMessage): boolean {
    const token = tokenFromCookies(headers.cookie)
    try {
      return token !== null && sessions.find(token) !== null
    } catch {
      return false
    }
  }

  const guards = { access, identifyCaller, intrusions, log, onFault: options.onFault }
  const app = createApp({
    modules: [
      healthRoutes({
        health: options.health,
        hasSession,
        buildInfo,
        publicUrl: () => settings.get('PUBLIC_URL'),
      }),
      installRoutes({ account, throttle, intrusions }),
      signInRoutes({ account, sessions, throttle, intrusions }),
      settingsRoutes({ settings, account, throttle, intrusions, testConnection: options.testConnection }),
      proxyRoutes(proxies),
      logRoutes({ lines: options.logLines, sessions, stopping: options.stopping }),
      pageRoutes(staticFiles),
      ...options.modules,
    ],
    ...guards,
    staticFiles,
    version: buildInfo.version,
  })
  const sockets = createSockets({
    routes: options.socketRoutes,
    sessions,
    newId,
    log,
    onFault: options.onFault,
  })
  const server = createHttpServer({
    fetch: app.fetch,
    sockets,
    ...guards,
    newId,
    ...(limits ? { limits } : {}),
  })
  const expiry = setInterval(() => sessions.endExpired(), END_EXPIRED_SESSIONS_EVERY_MS)
  expiry.unref()

  return {
    listen: server.listen,
    close(graceMs) {
      clearInterval(expiry)
      return server.close(graceMs)
    },
  }
}
