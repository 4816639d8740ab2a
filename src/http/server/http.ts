import type { IncomingMessage } from 'node:http'
import type { CoreDeps } from '../features.ts'
import { factorRoutes } from '../routes/factors.ts'
import { haltRoutes } from '../routes/halt.ts'
import { healthRoutes } from '../routes/health.ts'
import { installRoutes } from '../routes/install.ts'
import { logRoutes } from '../routes/logs.ts'
import { pageRoutes } from '../routes/pages.ts'
import { passkeyRoutes } from '../routes/passkeys.ts'
import { securityRoutes } from '../routes/security.ts'
import { serviceRoutes } from '../routes/services.ts'
import { settingsRoutes } from '../routes/settings.ts'
import { signInRoutes } from '../routes/sign-in.ts'
import { createAccessControl } from './access.ts'
import { createApp } from './app.ts'
import { createCallerIdentification } from './caller.ts'
import type { Routes } from './env.ts'
import type { Faults } from './faults.ts'
import { createHostList } from './host-list.ts'
import { createHttpServer, type ServerLimits } from './http-server.ts'
import type { IsMonitor } from './monitor.ts'
import { createSignInThrottle } from './sign-in-throttle.ts'
import { createSockets, type SocketRoute } from './sockets.ts'
import { isShellFile } from './static-files.ts'
import { createStepUp } from './step-up.ts'

const END_EXPIRED_SESSIONS_EVERY_MS = 60_000

/** Assembles the routes of the service itself, further routes and sockets, and their server. */
export function createHttp(
  options: Omit<CoreDeps, 'throttle' | 'stepUp' | 'undeclaredProxies'> &
    Faults & {
      readonly addRoutes: (routes: Routes) => void
      readonly socketRoutes: readonly SocketRoute[]
      readonly newId: () => string
      /** Further names that requests may address the service by. */
      readonly allowedHosts: readonly string[]
      /** A monotonic clock. */
      readonly monotonicMs: () => number
      readonly limits?: ServerLimits
      readonly isMonitor: IsMonitor
    },
) {
  const { account, sessions, settings, staticFiles, log } = options
  const { identify, undeclaredProxies } = createCallerIdentification(settings, (peer) =>
    log.warn(
      { peer, setting: 'TRUSTED_PROXY' },
      'Requests from this address carry forwarding headers, but TRUSTED_PROXY does not list it. If it is your proxy, add it to TRUSTED_PROXY. Until then, all clients behind it count as one.',
    ),
  )
  const throttle = createSignInThrottle(options.monotonicMs)
  const guards = {
    access: createAccessControl({
      account,
      sessions,
      isAllowedHost: createHostList(settings, options.allowedHosts),
      intrusions: options.intrusions,
      // The shell is served at the addresses of its pages only.
      isStaticFile: (path) => !isShellFile(path) && staticFiles.has(path),
      isMonitor: options.isMonitor,
    }),
    identifyCaller: identify,
  }
  const stepUp = createStepUp({ ...options, throttle })
  const core = { ...options, throttle, stepUp, undeclaredProxies }
  const app = createApp({
    ...options,
    ...guards,
    addRoutes(routes) {
      stepUp.guard(routes)
      for (const addRoutes of CORE_ROUTES) addRoutes(routes, core)
      options.addRoutes(routes)
    },
    version: options.buildInfo.version,
  })
  const sockets = createSockets({ ...options, ...guards, routes: options.socketRoutes })
  const languageOfRequest = ({ headers }: IncomingMessage) =>
    options.language.ofRequest(headers['accept-language'])
  const server = createHttpServer({ ...options, ...guards, fetch: app.fetch, sockets, languageOfRequest })
  const expiry = setInterval(() => sessions.endExpired(), END_EXPIRED_SESSIONS_EVERY_MS)
  expiry.unref()

  return {
    listen: server.listen,
    openSockets: sockets.count,
    close(graceMs: number): Promise<void> {
      clearInterval(expiry)
      return server.close(graceMs)
    },
  }
}

/** In the order of the API reference. */
const CORE_ROUTES = [
  healthRoutes,
  installRoutes,
  signInRoutes,
  factorRoutes,
  passkeyRoutes,
  haltRoutes,
  settingsRoutes,
  serviceRoutes,
  securityRoutes,
  logRoutes,
  pageRoutes,
]
