import { STATUS_CODES } from 'node:http'
import type { z } from '@hono/zod-openapi'
import { issueText } from '../../language/issue-text.ts'
import { msg, translated, translatedSentence } from '../../language/msg.ts'
import { asCalled } from '../../lib/as-called.ts'
import type { ProblemDocument, RefusalStatus } from '../contract/problem.ts'

type FieldProblems = NonNullable<ProblemDocument['errors']>

/** Thrown by a route, it becomes a problem document. Only code in src/http knows HTTP statuses. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: RefusalStatus
  readonly code: string
  readonly errors: FieldProblems | undefined
  readonly headers: Readonly<Record<string, string>>
  /** Additional members of the document. */
  readonly extra: Readonly<Record<string, unknown>>
  constructor(
    status: RefusalStatus,
    code: string,
    detail: string,
    options: {
      readonly errors?: FieldProblems
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

export function problemOf(refusal: Refusal): ProblemDocument {
  const { status, code, message: detail, errors, extra } = refusal
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: asCalled(translatedSentence(detail)),
    code,
    ...(errors
      ? { errors: errors.map(({ path, message }) => ({ path, message: translated(message) })) }
      : {}),
    ...extra,
  }
}

/** The refusal for schema violations. Messages say what is wrong and never repeat the input. */
export function invalidRequest(issues: readonly z.core.$ZodIssue[]): Refusal {
  const errors = issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: issueText(issue),
  }))
  return new Refusal(400, 'invalid_request', describe(errors), { errors })
}

/** The refusal for one field that the schema cannot check. An empty path means the whole request. */
export function invalidField(path: string, message: string, code = 'invalid_request'): Refusal {
  const errors = [{ path, message: translated(message) }]
  return new Refusal(400, code, describe(errors), { errors })
}

/** The refusal for an id that names nothing: `unknown('note')`. */
export function unknown(what: string): Refusal {
  return new Refusal(404, `unknown_${what}`, msg`There is no such ${translated(what)}.`)
}

/** A value that was looked up. Throws the refusal if there is none. */
export function known<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw unknown(what)
  return value
}

/** The refusal for what the present state does not allow. */
export function conflict(code: string, detail: string): Refusal {
  return new Refusal(409, code, detail)
}

/** The refusal for a cursor that this service did not issue. */
export function invalidCursor(path: 'before' | 'cursor'): Refusal {
  return new Refusal(400, 'invalid_cursor', msg`The cursor is not valid. Use one from an earlier response.`, {
    errors: [{ path, message: msg`must come from an earlier response` }],
  })
}

function describe(errors: FieldProblems): string {
  const [first] = errors
  if (!first) return msg`The request is not valid.`
  return first.path === '' ? first.message : `${first.path}: ${first.message}`
}
