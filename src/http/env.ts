import type { HttpBindings } from '@hono/node-server'
import { type Hook, OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Session } from '../settings/sessions.ts'
import type { Caller } from './caller.ts'
import { invalidRequest } from './problem.ts'

/** What every route finds in its context. */
export type HttpEnv = {
  Bindings: HttpBindings
  Variables: {
    requestId: string
    caller: Caller
    /** Null on public paths for those who are not signed in. */
    session: Session | null
  }
}

export type HttpContext = Context<HttpEnv>

/** One resource's routes, each declared with the schemas that both check its requests and describe it. */
export type Routes = OpenAPIHono<HttpEnv>

/** A place to declare routes in; `createApp` mounts it. Invalid requests are refused with 400, or as `onInvalid` does. */
export function createRoutes(onInvalid: typeof refuseInvalid = refuseInvalid): Routes {
  return new OpenAPIHono<HttpEnv>({ defaultHook: onInvalid })
}

/** Typed for any schema: it only looks at the outcome. */
// biome-ignore lint/suspicious/noExplicitAny: the library types hooks by the route that they serve.
export const refuseInvalid: Hook<any, HttpEnv, any, any> = (result) => {
  if (!result.success) throw invalidRequest(result.error.issues)
}

/** The session of a request to a path that needs one. */
export function sessionOf(c: HttpContext): Session {
  const session = c.get('session')
  if (session === null) throw new Error(`${c.req.path} was reached without a session`)
  return session
}

/** Aborts when the client leaves before it has its answer. The web's Request has one too, but making that costs more. */
export function goneSignal(c: HttpContext): AbortSignal {
  const { outgoing } = c.env
  const gone = new AbortController()
  const onClose = () => {
    if (!outgoing.writableFinished) gone.abort(new Error('the client went away'))
  }
  if (outgoing.closed) onClose()
  else outgoing.once('close', onClose)
  return gone.signal
}
