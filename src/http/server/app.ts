import type { IncomingMessage } from 'node:http'
import { HTTPException } from 'hono/http-exception'
import { diskCauseOf, diskRemedies } from '../../../ledger/causes.ts'
import { LedgerUnavailable } from '../../../ledger/errors.ts'
import type { Log } from '../../lib/log.ts'
import { QueueFull } from '../../settings/passwords.ts'
import { PROBLEM_TYPE } from '../contract/problem.ts'
import { type AccessControl, isNavigation } from './access.ts'
import type { IdentifyCaller } from './caller.ts'
import { createRoutes, type HttpContext, type Routes } from './env.ts'
import type { IntrusionCounter } from './intrusion-counter.ts'
import { guardBodies } from './json-body.ts'
import { problemOf, Refusal } from './problem.ts'
import { createReference } from './reference.ts'
import { refuse } from './refuse.ts'
import { SHELL_FILE, type StaticFiles, serveFile } from './static-files.ts'
import { wantedPageCookie } from './wanted-page.ts'

/** One resource: its routes, and the body limit in bytes for paths that need more than the default. */
export type RouteModule = {
  readonly routes: Routes
  readonly bodyBytes?: (path: string) => number | null
}

export type GuardOptions = {
  readonly access: AccessControl
  readonly identifyCaller: IdentifyCaller
  readonly intrusions: Pick<IntrusionCounter, 'count'>
  readonly log: Log
  /** Called with any fault of the service itself that a request ran into. */
  readonly onFault: (error: unknown) => void
}

export type AppOptions = GuardOptions & {
  readonly modules: readonly RouteModule[]
  readonly staticFiles: StaticFiles
  readonly version: string
}

/**
 * The HTTP application. It identifies the caller, checks access, and reads and checks the body before the
 * route runs. http-server.ts sets the headers that all responses share.
 */
export function createApp(options: AppOptions): Routes {
  const { modules, staticFiles } = options
  const app = createRoutes()
  app.use((c, next) => {
    c.set('requestId', String(c.env.outgoing.getHeader('x-request-id')))
    return next()
  })
  guard(app, options, ({ method }) => method ?? '')

  app.use(async (c, next) => {
    const file = staticFiles.get(c.req.path)
    if (file && (c.req.method === 'GET' || c.req.method === 'HEAD')) return serveFile(c, file)
    return next()
  })

  app.use(guardBodies(modules.flatMap(({ bodyBytes }) => bodyBytes ?? [])))

  for (const { routes } of modules) app.route('/', routes)
  app.route('/', createReference(app, options.version))

  const shell = staticFiles.get(SHELL_FILE)
  app.notFound((c) => {
    // Browsers get the web app, which shows its own "not found" page.
    if (shell && isNavigation(c.env.incoming)) return serveFile(c, shell, 404)
    throw new Refusal(404, 'not_found', 'There is nothing at this address.')
  })
  return app
}

/** A router for WebSocket handshakes, behind the same access check. */
export function createSocketApp(options: GuardOptions): Routes {
  const app = createRoutes()
  guard(app, options, () => 'UPGRADE')
  return app
}

/** Checks access before every route and turns what a route throws into a response. */
function guard(app: Routes, options: GuardOptions, methodOf: (incoming: IncomingMessage) => string): void {
  const { access, identifyCaller, intrusions } = options
  app.use(async (c, next) => {
    const { incoming } = c.env
    const caller = identifyCaller(incoming)
    c.set('caller', caller)
    const verdict = access.request(incoming, caller, methodOf(incoming), c.req.path)
    if (verdict.verdict === 'redirected') {
      const wanted = verdict.to === '/login' ? wantedPageCookie(incoming.url ?? '', caller.isHttps) : null
      if (wanted !== null) c.header('Set-Cookie', wanted)
      return c.redirect(verdict.to, 302)
    }
    if (verdict.verdict === 'refused') throw refuse(verdict.reason, intrusions)
    c.set('session', verdict.session)
    return next()
  })
  app.onError((error, c) => answer(refusalOf(error, c, options), c))
}

function answer(refusal: Refusal, c: HttpContext): Response {
  return c.body(JSON.stringify(problemOf(refusal)), refusal.status, {
    ...refusal.headers,
    'content-type': PROBLEM_TYPE,
  })
}

type Faults = Pick<GuardOptions, 'log' | 'onFault'>

/** Maps what a route threw to a refusal. Faults of the service are reported, and answered without details. */
function refusalOf(error: unknown, c: HttpContext, faults: Faults): Refusal {
  if (error instanceof Refusal) {
    if (error.status >= 500 && error.cause !== undefined) reportFault(error, c, faults)
    return error
  }
  if (error instanceof HTTPException && error.status < 500) {
    return error.status === 415
      ? new Refusal(400, 'unsupported_media_type', 'The body must be application/json.')
      : new Refusal(400, 'malformed_request', error.message || 'The request is malformed.')
  }
  if (error instanceof QueueFull) {
    return new Refusal(429, 'too_many_requests', 'Too many requests are waiting. Try again shortly.', {
      headers: { 'retry-after': '5' },
    })
  }
  const { errored, destroyed, complete } = c.env.incoming
  // A request that was read to its end may be destroyed as well.
  if (errored || (destroyed && !complete)) {
    return new Refusal(408, 'request_incomplete', 'The request was cut off before it was complete.')
  }
  reportFault(error, c, faults)
  const cause = error instanceof LedgerUnavailable ? error.disk : diskCauseOf(error)
  const remedy = cause === null ? '' : ` ${diskRemedies[cause]}`
  if (error instanceof LedgerUnavailable) {
    return new Refusal(
      503,
      'ledger_unavailable',
      `The service cannot record anything right now. Nothing was done.${remedy}`,
    )
  }
  return cause !== null
    ? new Refusal(503, 'storage_unavailable', `The service cannot read its data right now.${remedy}`)
    : new Refusal(
        500,
        'internal_error',
        `Something went wrong. Look for request ${c.get('requestId')} in the log.`,
      )
}

function reportFault(error: unknown, c: HttpContext, { log, onFault }: Faults): void {
  onFault(error)
  log.error(
    { err: error, requestId: c.get('requestId'), method: c.req.method, path: c.req.path },
    'A request failed',
  )
}
