import type { z } from 'zod'

type Resource =
  | typeof import('../../../src/http/contract/adaptations.ts')
  | typeof import('../../../src/http/contract/calls.ts')
  | typeof import('../../../src/http/contract/chat.ts')
  | typeof import('../../../src/http/contract/conversations.ts')
  | typeof import('../../../src/http/contract/downloads.ts')
  | typeof import('../../../src/http/contract/erasures.ts')
  | typeof import('../../../src/http/contract/halt.ts')
  | typeof import('../../../src/http/contract/factors.ts')
  | typeof import('../../../src/http/contract/health.ts')
  | typeof import('../../../src/http/contract/imports.ts')
  | typeof import('../../../src/http/contract/install.ts')
  | typeof import('../../../src/http/contract/logs.ts')
  | typeof import('../../../src/http/contract/memories.ts')
  | typeof import('../../../src/http/contract/notes.ts')
  | typeof import('../../../src/http/contract/backups.ts')
  | typeof import('../../../src/http/contract/notifications.ts')
  | typeof import('../../../src/http/contract/operations.ts')
  | typeof import('../../../src/http/contract/outbound.ts')
  | typeof import('../../../src/http/contract/passkeys.ts')
  | typeof import('../../../src/http/contract/proposals.ts')
  | typeof import('../../../src/http/contract/security.ts')
  | typeof import('../../../src/http/contract/services.ts')
  | typeof import('../../../src/http/contract/session.ts')
  | typeof import('../../../src/http/contract/settings.ts')
  | typeof import('../../../src/http/contract/sign-in.ts')
  | typeof import('../../../src/http/contract/speech.ts')
  | typeof import('../../../src/http/contract/spending.ts')
  | typeof import('../../../src/http/contract/tasks.ts')
  | typeof import('../../../src/http/contract/telephony.ts')
  | typeof import('../../../src/http/contract/timeline.ts')
  | typeof import('../../../src/http/contract/timers.ts')

type Declared<R> = R extends unknown ? R[keyof R] : never
/** The routes of a method, by path. */
type ByPath<M extends string> = {
  [R in Extract<Declared<Resource>, { readonly method: M; readonly path: string }> as R['path']]: R
}

type Content<S> = { readonly content: { readonly 'application/json': { readonly schema: S } } }
type Json<Part> = Part extends Content<infer S extends z.ZodType> ? S : never
type Success<R> = R extends { readonly responses: infer A } ? Json<A[keyof A & (200 | 201)]> : never
type Answer<R> = [Success<R>] extends [never] ? null : z.output<Success<R>>

/** The fields of a path or query: as they are sent, or as the service reads them. */
type Fields<S extends z.ZodType, Absent = never> = {
  readonly [K in keyof z.input<S>]: z.input<S>[K] | z.output<S>[K & keyof z.output<S>] | Absent
}
type Optional<Name extends string, T> =
  Record<never, never> extends T ? { readonly [K in Name]?: T } : { readonly [K in Name]: T }
type Params<Q> = Q extends { readonly params: infer S extends z.ZodType }
  ? Optional<'params', Fields<S>>
  : unknown
/** Null leaves a field out. */
type Query<Q> = Q extends { readonly query: infer S extends z.ZodType }
  ? Optional<'query', Fields<S, null>>
  : unknown
type Headers<Q> = Q extends { readonly headers: infer S extends z.ZodType }
  ? Optional<'headers', z.input<S>>
  : unknown
/** JSON, or a piece of a file. */
type Body<Q> = Q extends { readonly body: infer B }
  ? { readonly body: [Json<B>] extends [never] ? Blob : z.input<Json<B>> }
  : unknown
type Options<R> = { readonly signal?: AbortSignal | undefined } & (R extends { readonly request: infer Q }
  ? Params<Q> & Query<Q> & Headers<Q> & Body<Q>
  : unknown)

type Call<Routes> = <P extends keyof Routes>(
  path: P,
  ...options: Record<never, never> extends Options<Routes[P]>
    ? [options?: Options<Routes[P]>]
    : [options: Options<Routes[P]>]
) => Promise<Answer<Routes[P]>>

/**
 * Sends a request and returns the JSON of the answer, or null if it has no body. Throws Refused, Unreachable
 * or the reason of the abort signal.
 */
export type Http = {
  readonly get: Call<ByPath<'get'>>
  readonly post: Call<ByPath<'post'>>
  readonly put: Call<ByPath<'put'>>
  readonly del: Call<ByPath<'delete'>>
}

/** What the service answers to a GET of this path. */
export type AnswerOf<P extends keyof ByPath<'get'>> = Answer<ByPath<'get'>[P]>
