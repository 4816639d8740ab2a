import { STATUS_CODES } from 'node:http'
import { z } from '@hono/zod-openapi'

export const PROBLEM_TYPE = 'application/problem+json'

export type FieldProblem = { readonly path: string; readonly message: string }

/** Every refusal's shape (RFC 9457). `code` is a stable word for programs, `detail` a sentence for people. */
export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .openapi('Problem')

export type ProblemDocument = z.output<typeof problemSchema>

export type RefusalStatus = 400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 417 | 429 | 431 | 500 | 502 | 503

/** How a route refuses: thrown, it becomes a problem document. Only code in src/http may know statuses. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: RefusalStatus
  readonly code: string
  readonly errors: readonly FieldProblem[] | undefined
  readonly headers: Readonly<Record<string, string>>
  /** Further members of the document. */
  readonly extra: Readonly<Record<string, unknown>>
  constructor(
    status: RefusalStatus,
    code: string,
    detail: string,
    options: {
      readonly errors?: readonly FieldProblem[]
      readonly headers?: Readonly<Record<string, string>>
      readonly extra?: Readonly<Record<string, unknown>>
      readonly cause?: unknown
    } = {},
  ) {
    super(detail, { cause: options.cause })
    this.status = status
    this.code = code
    this.errors = options.errors
    this.headers = options.headers ?? {}
    this.extra = options.extra ?? {}
  }
}

/** The document of a refusal. */
export function problemOf(refusal: Refusal): ProblemDocument {
  const { status, code, message: detail, errors, extra } = refusal
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    code,
    ...(errors ? { errors: [...errors] } : {}),
    ...extra,
  }
}

/** A refusal by what the request's schema says of it. The messages name what is wrong, never what was sent. */
export function invalidRequest(issues: readonly z.core.$ZodIssue[]): Refusal {
  const errors = issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }))
  return new Refusal(400, 'invalid_request', describe(errors), { errors })
}

/** The refusal of one field that no schema could judge. An empty path means the request as a whole. */
export function invalidField(path: string, message: string, code = 'invalid_request'): Refusal {
  const errors = [{ path, message }]
  return new Refusal(400, code, describe(errors), { errors })
}

/** A cursor that does not come from an answer. */
export function invalidCursor(path: 'before' | 'cursor'): Refusal {
  return new Refusal(400, 'invalid_cursor', 'The cursor is not one that this service gave out.', {
    errors: [{ path, message: 'is not one that this service gave out' }],
  })
}

function describe(errors: readonly FieldProblem[]): string {
  const [first] = errors
  if (!first) return 'The request is not valid.'
  return first.path === '' ? first.message : `${first.path}: ${first.message}`
}
