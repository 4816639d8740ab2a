import { msg } from '../../language/msg.ts'
import { PROBLEM_TYPE } from '../contract/problem.ts'
import { type AccessControl, isNavigation, Redirection } from './access.ts'
import type { IdentifyCaller } from './caller.ts'
import { createRoutes, type HttpContext, type Routes } from './env.ts'
import { type Faults, refusalOf } from './faults.ts'
import { guardBodies } from './json-body.ts'
import { problemOf, Refusal } from './problem.ts'
import { addReference } from './reference.ts'
import { type StaticFiles, serveFile, shellOf } from './static-files.ts'
import { wantedPageCookie } from './wanted-page.ts'

export type Guards = Faults & {
  readonly access: AccessControl
  readonly identifyCaller: IdentifyCaller
}

/**
 * The HTTP application. It identifies the caller, checks access, and reads and checks the body before the
 * route runs. http-server.ts sets the headers that all responses share.
 */
export function createApp(
  options: Guards & {
    readonly addRoutes: (routes: Routes) => void
    readonly staticFiles: StaticFiles
    readonly version: string
  },
): Routes {
  const { addRoutes, staticFiles } = options
  const app = createRoutes()
  app.use((c, next) => {
    c.set('requestId', String(c.env.outgoing.getHeader('x-request-id')))
    return next()
  })
  guard(app, options)

  app.use(async (c, next) => {
    const file = staticFiles.get(c.req.path)
    if (file && (c.req.method === 'GET' || c.req.method === 'HEAD')) return serveFile(c, file)
    return next()
  })

  app.use(guardBodies())

  addRoutes(app)
  addReference(app, options.version)

  app.notFound((c) => {
    const shell = shellOf(staticFiles)
    // Browsers get the web app, which shows its own "not found" page.
    if (shell && isNavigation(c.env.incoming)) return serveFile(c, shell, 404)
    throw new Refusal(404, 'not_found', msg`There is nothing at this address.`)
  })
  return app
}

/**
 * Checks access before every route and turns what a route throws into a response. `method` is UPGRADE for the
 * routes of sockets.
 */
export function guard(app: Routes, guards: Guards, method?: 'UPGRADE'): void {
  const { access, identifyCaller } = guards
  app.use(async (c, next) => {
    const { incoming } = c.env
    const caller = identifyCaller(incoming)
    c.set('caller', caller)
    c.set('session', access.check(incoming, caller, method ?? c.req.method, c.req.path))
    return next()
  })
  app.onError((error, c) => {
    if (error instanceof Redirection) return redirect(error.to, c)
    return answer(refusalOf(error, c.env.incoming, c.get('requestId'), guards), c)
  })
}

function redirect(to: Redirection['to'], c: HttpContext): Response {
  const { url = '' } = c.env.incoming
  const wanted = to === '/login' ? wantedPageCookie(url, c.get('caller').isHttps) : null
  if (wanted !== null) c.header('Set-Cookie', wanted)
  return c.redirect(to, 302)
}

function answer(refusal: Refusal, c: HttpContext): Response {
  return c.body(JSON.stringify(problemOf(refusal)), refusal.status, {
    ...refusal.headers,
    'content-type': PROBLEM_TYPE,
  })
}
