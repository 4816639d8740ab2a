// The whole SDK takes 100 ms to load; its errors do not.

import { APIError } from 'openai/error'
import * as z from 'zod'
import { english } from '../../language/message.ts'
import { networkCode } from '../../lib/never-reached.ts'
import { parseRetryAfter } from '../../lib/waits.ts'
import { CapabilityMissing, ModelError, type ModelFailureKind, NoAnswer, UnknownModel } from '../port.ts'
import { redact } from './redact.ts'

/** An error and whether a retry may succeed. */
export type Failure = { readonly error: ModelError; readonly retry: boolean }

/** An error reported by the service: an HTTP error, a failed response, or an `error` event of a stream. */
export type ServiceFault = {
  /** Null inside a stream, which started with 200. */
  readonly status: number | null
  readonly code: string | null
  readonly param: string | null
  readonly message: string
  readonly retryAfterMs: number | null
}

/** Reads the fault from an SDK error; null if the service did not report it. Nothing in it was validated. */
export function faultOf(error: unknown, nowMs: number): ServiceFault | null {
  // A broken connection has neither.
  if (!(error instanceof APIError) || !(error.status ?? error.error)) return null
  const { status, code, type, param, message, headers } = error
  return {
    status: status ?? null,
    code: wordOf(code) ?? wordOf(type),
    param: wordOf(param),
    message,
    retryAfterMs: headers ? parseRetryAfter(headers, nowMs) : null,
  }
}

const wordOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** A fault that the service reports in a response or in the middle of its stream. */
export function reportedFault(code: string | null | undefined, message: string): APIError {
  return new APIError(undefined, { code, message }, message, undefined)
}

/** Classifies anything that an attempt throws. Messages and causes are redacted. */
export function classify(
  error: unknown,
  context: { readonly nowMs: number; readonly secrets: readonly string[]; readonly where: string },
): Failure {
  if (error instanceof ModelError) {
    const isFinal = error instanceof CapabilityMissing || error instanceof NoAnswer
    return { error, retry: RETRIED.has(error.kind) && !isFinal }
  }
  const { secrets, where } = context
  const fault = faultOf(error, context.nowMs)
  if (fault) {
    const kind = kindOf(fault)
    const status = fault.status === null ? '' : ` ${fault.status}`
    const words = redact(fault.message.replace(/^\d{3} /, ''), secrets)
    const message = english`The model service at ${where} answered${status}${words ? `: ${words}` : '.'}`
    const options = {
      cause: new Error(words, { cause: redact(fault.code ?? '', secrets) }),
      retryAfterMs: fault.retryAfterMs,
    }
    if (fault.status === 404 && saysNoModel(fault)) {
      const text = english`The model service at ${where} does not have the chosen model. Choose one that it has in Settings.`
      return { error: new UnknownModel(text, options), retry: false }
    }
    return { error: new ModelError(kind, message, options), retry: isTransient(kind, fault.status) }
  }
  const cause = new Error(redact(describe(error), secrets))
  if (error instanceof SyntaxError || error instanceof z.ZodError) {
    const message = english`The model service at ${where} sent a response that is not valid in its API.`
    return { error: new ModelError('malformed', message, { cause }), retry: false }
  }
  const code = networkCode(error)
  const message = english`The connection to the model service at ${where} failed${code ? ` (${code})` : ''}.`
  return { error: new ModelError('unavailable', message, { cause }), retry: true }
}

const RETRIED: ReadonlySet<ModelFailureKind> = new Set(['rate_limited', 'unavailable', 'timeout'])

function isTransient(kind: ModelFailureKind, status: number | null): boolean {
  // 404, redirects and the like are `unavailable` too, but permanent.
  const isPermanent = status !== null && status < 500 && ![408, 409, 425, 429].includes(status)
  return RETRIED.has(kind) && !isPermanent
}

/** Whether a fault says that a model is missing, rather than a path: "model x not found". */
export function saysNoModel({ code, message }: Pick<ServiceFault, 'code' | 'message'>): boolean {
  const isNamed = message.split('/').some((part) => {
    const at = part.search(/\bmodel\b/i)
    return at >= 0 && /\b(?:not found|not exist|unknown|not available)/i.test(part.slice(at))
  })
  return code === 'model_not_found' || isNamed
}

const QUOTA = /insufficient_quota|billing|exceeded your current quota/i
const TOO_LONG =
  /context_length_exceeded|maximum (?:context|number of tokens)|context (?:length|size|window)|too many (?:input )?tokens|prompt is too long/i
const REFUSED = /content_policy|content_filter|invalid_prompt|bio_policy|cyber_policy|policy_violation/i

/** What a fault of the service means. `status` is null for one in a stream. */
export function kindOf({
  status,
  code,
  message,
}: Pick<ServiceFault, 'status' | 'code' | 'message'>): ModelFailureKind {
  const words = `${code ?? ''} ${message}`
  if (status === 401 || status === 403 || code === 'invalid_api_key') return 'auth'
  if (status === 402 || (QUOTA.test(words) && (status === 429 || status === null))) return 'quota'
  if (status === 429 || (status === null && /rate_limit/.test(code ?? ''))) return 'rate_limited'
  if (status === 408) return 'timeout'
  if (status === 413 || ((status === null || status < 500) && TOO_LONG.test(words))) return 'context_too_long'
  if (status === null) return REFUSED.test(code ?? '') ? 'refused' : 'unavailable'
  if (status === 400 || status === 422) return REFUSED.test(code ?? '') ? 'refused' : 'malformed'
  return 'unavailable'
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
