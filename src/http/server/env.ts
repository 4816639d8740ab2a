import type { IncomingMessage } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { type Hook, OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Session } from '../../settings/sessions.ts'
import type { Caller } from './caller.ts'
import { invalidRequest } from './problem.ts'

export type HttpEnv = {
  Bindings: HttpBindings
  Variables: {
    requestId: string
    caller: Caller
    /** Null for requests without a session, which only public paths accept. */
    session: Session | null
  }
}

export type HttpContext = Context<HttpEnv>

/** Routes. Their schemas both validate requests and describe them in the API reference. */
export type Routes = OpenAPIHono<HttpEnv>

/** Creates a router. Invalid requests get 400. */
export function createRoutes(): Routes {
  return new OpenAPIHono<HttpEnv>({ defaultHook: refuseInvalid })
}

/** Typed for any schema, because it only looks at the outcome. */
// biome-ignore lint/suspicious/noExplicitAny: the library types hooks per route.
export const refuseInvalid: Hook<any, HttpEnv, any, any> = (result) => {
  if (!result.success) throw invalidRequest(result.error.issues)
}

/** The session of a request to a path that requires one. */
export function sessionOf(c: HttpContext): Session {
  const session = c.get('session')
  if (session === null) throw new Error(`${c.req.path} was reached without a session`)
  return session
}

/** Aborts when the client disconnects early. Costs less than a web Request and its signal. */
export function goneSignal(c: HttpContext): AbortSignal {
  const { outgoing } = c.env
  const gone = new AbortController()
  const onClose = () => {
    if (!outgoing.writableFinished) gone.abort(new Error('the client disconnected'))
  }
  if (outgoing.closed) onClose()
  else outgoing.once('close', onClose)
  return gone.signal
}

/** The path of a request as it was sent, without the query. */
export function pathOf({ url = '' }: IncomingMessage): string {
  return url.replace(/\?.*$/s, '')
}
