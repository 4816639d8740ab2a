import { z } from '@hono/zod-openapi'
import type { Context, TypedResponse } from 'hono'
import { PROBLEM_TYPE, problemSchema, type RefusalStatus } from './problem.ts'

/**
 * Shorthands for what route declarations repeat. A refusal is thrown and never returned, so declaring one adds to
 * the published contract alone.
 */

/** A JSON answer. */
export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { 'application/json': { schema } } }
}

/** An answer that goes on as server-sent events. */
export function eventStream(description: string) {
  return { description, content: { 'text/event-stream': { schema: z.string() } } }
}

/** A page for people. */
export function htmlPage(description: string) {
  return { description, content: { 'text/html': { schema: z.string() } } }
}

/** A JSON request body; always required. */
export function body<S extends z.ZodType>(schema: S) {
  return { required: true as const, content: { 'application/json': { schema } } }
}

export const meanings: Readonly<Record<RefusalStatus, string>> = {
  400: 'Malformed, or out of bounds',
  401: 'No session',
  403: 'Wrong origin, or not allowed',
  404: 'Unknown',
  408: 'The request came too slowly',
  409: 'Conflicts with the present state',
  412: 'Stale revision',
  413: 'Body too large',
  417: 'An expectation that cannot be met',
  429: 'Too many attempts; see Retry-After',
  431: 'Headers too large',
  500: 'A fault of the service',
  502: 'The model or telephony service failed',
  503: 'Not configured yet, or not ready',
}

type RefusalAnswer = { description: string; content: { [PROBLEM_TYPE]: { schema: typeof problemSchema } } }

/** Documents refusals by their statuses, as problem documents. */
export function refusals<const S extends RefusalStatus>(...statuses: readonly S[]): Record<S, RefusalAnswer> {
  const answers = statuses.map((status) => [
    status,
    { description: meanings[status], content: { [PROBLEM_TYPE]: { schema: problemSchema } } },
  ])
  return Object.fromEntries(answers)
}

/** Answers who asks for the headers of a stream alone: the stream itself would go on with nobody to read it. */
export function streamHeaders(c: Context): Response & TypedResponse<never, 200, 'text'> {
  const response: Response = c.newResponse(null, 200, { 'content-type': 'text/event-stream' })
  return response as Response & TypedResponse<never, 200, 'text'>
}

/** Answers 200 with JSON that is text already, of the shape that the route declares. */
export function jsonText(c: Context, text: string): Response & TypedResponse<never, 200, 'json'> {
  // What the type adds to a Response is there for the type checker alone.
  const response: Response = c.newResponse(text, 200, { 'content-type': 'application/json' })
  return response as Response & TypedResponse<never, 200, 'json'>
}
