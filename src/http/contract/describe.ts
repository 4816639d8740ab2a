import { createRoute, type RouteConfig, z } from '@hono/zod-openapi'
import { PROBLEM_TYPE, problemSchema, type RefusalStatus } from './problem.ts'

/**
 * Shorthands for route declarations. Refusals are thrown, never returned, so declaring one only documents it.
 */

/** Declares the routes of one group of the API reference. */
export function tagged(tag: string) {
  const declare =
    <M extends RouteConfig['method']>(method: M) =>
    <const P extends string, R extends Omit<RouteConfig, 'method' | 'path' | 'tags'>>(path: P, route: R) =>
      createRoute({ method, path, tags: [tag], ...route })
  return { get: declare('get'), post: declare('post'), put: declare('put'), del: declare('delete') }
}

export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { 'application/json': { schema } } }
}

export function eventStream(description: string) {
  return { description, content: { 'text/event-stream': { schema: z.string() } } }
}

export function htmlPage(description: string) {
  return { description, content: { 'text/html': { schema: z.string() } } }
}

/** The responses of a route that answers with a calendar. */
export function calendar(description: string) {
  return { 200: { description, content: { 'text/calendar': { schema: z.string() } } } }
}

/** A required JSON request body. */
export function body<S extends z.ZodType>(schema: S) {
  return { required: true as const, content: { 'application/json': { schema } } }
}

/** A form that the telephony provider posts: the fields that are read. It sends more. */
export function form(...names: readonly string[]) {
  const schema = z.object(Object.fromEntries(names.map((name) => [name, z.string().optional()])))
  return { content: { 'application/x-www-form-urlencoded': { schema } } }
}

export const meanings: Readonly<Record<RefusalStatus, string>> = {
  400: 'Malformed or out of bounds',
  401: 'No session',
  403: 'Wrong origin or not allowed',
  404: 'Not found',
  408: 'The request timed out',
  409: 'Conflicts with the current state',
  412: 'Stale revision',
  413: 'Body too large',
  417: 'Unsupported Expect header',
  429: 'Too many attempts; see Retry-After',
  431: 'Headers too large',
  500: 'Internal error',
  502: 'The model or telephony service failed',
  503: 'Not configured yet or not ready',
}

type RefusalAnswer = { description: string; content: { [PROBLEM_TYPE]: { schema: typeof problemSchema } } }

/** Declares problem documents for these statuses. */
export function refusals<const S extends RefusalStatus>(...statuses: readonly S[]): Record<S, RefusalAnswer> {
  const answers = statuses.map((status) => [
    status,
    { description: meanings[status], content: { [PROBLEM_TYPE]: { schema: problemSchema } } },
  ])
  return Object.fromEntries(answers)
}

/** The responses of a route that answers with JSON, or refuses with one of these statuses. */
export function answer<S extends z.ZodType, const R extends RefusalStatus = never>(
  schema: S,
  description: string,
  ...statuses: readonly R[]
) {
  return { 200: json(schema, description), ...refusals(...statuses) }
}

/** As `answer`, for a route that creates something. */
export function created<S extends z.ZodType, const R extends RefusalStatus = never>(
  schema: S,
  description: string,
  ...statuses: readonly R[]
) {
  return { 201: json(schema, description), ...refusals(...statuses) }
}

/** As `answer`, without a body. */
export function done<const R extends RefusalStatus = never>(description: string, ...statuses: readonly R[]) {
  return { 204: { description }, ...refusals(...statuses) }
}
