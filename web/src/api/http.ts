import type { ProblemDocument } from '../../../src/http/contract/problem.ts'
import { msg } from '../design/msg.ts'
import { Explained } from './explained.ts'
import type { Http } from './routes.ts'

/** The service answered with an error. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly problem: ProblemDocument
  /** What is wrong with each field of the request. */
  readonly errors: NonNullable<ProblemDocument['errors']>
  /** From the `Retry-After` header. */
  readonly retryAfterSeconds: number | null
  constructor(problem: ProblemDocument, retryAfterSeconds: number | null) {
    super(problem.detail)
    this.problem = problem
    this.errors = problem.errors ?? []
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** No complete answer arrived: the service or the network is down. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
  constructor(cause: unknown) {
    super(msg`The service cannot be reached right now.`, { cause })
  }
}

/** What the typed calls come down to. */
type Request = {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

/** How long a request may take. Changes get longer: they may wait for the model. */
const limitMs = { read: 30_000, change: 300_000 } as const

/** Codes of a 401 that is about a factor, not about the session. */
const aboutFactors = new Set(['wrong_password', 'wrong_code', 'wrong_passkey', 'second_factor_required'])

/**
 * `onNoSession` runs on 401, except for a wrong or missing factor. `stepUp` runs when the service asks for a proof of who is
 * there; if it resolves to true, the request is repeated.
 */
export function createHttp(options: {
  readonly fetch: typeof fetch
  readonly stepUp: () => Promise<boolean>
  readonly onNoSession: () => void
  readonly onNotInstalled: () => void
}): Http {
  return { get: caller('GET'), post: caller('POST'), put: caller('PUT'), del: caller('DELETE') }

  function caller(method: string) {
    const timeoutMs = method === 'GET' ? limitMs.read : limitMs.change
    const send = async (path: string, request: Request) => {
      const { response, text } = await exchange(method, path, request, timeoutMs)
      if (response.ok) return text === '' ? null : JSON.parse(text)
      const problem = problemOf(text, response.status)
      if (response.status === 401 && !aboutFactors.has(problem.code)) options.onNoSession()
      if (problem.code === 'not_configured' && response.status === 503) options.onNotInstalled()
      throw new Refused(problem, retryAfter(response.headers.get('retry-after')))
    }
    return async (path: string, request: Request = {}) => {
      try {
        return await send(path, request)
      } catch (error) {
        const isAsked = error instanceof Refused && error.problem.code === 'step_up_required'
        if (!isAsked || !(await options.stepUp())) throw error
        return send(path, request)
      }
    }
  }

  /** A response that is cut off counts as Unreachable. */
  async function exchange(method: string, path: string, request: Request, timeoutMs: number) {
    const timeout = AbortSignal.timeout(timeoutMs)
    const { body, headers, signal } = request
    const isFile = body instanceof Blob
    try {
      const response = await options.fetch(addressOf(path, request), {
        method,
        credentials: 'same-origin',
        cache: 'no-store',
        redirect: 'error',
        headers: {
          accept: 'application/json, application/problem+json',
          ...(body === undefined
            ? {}
            : { 'content-type': isFile ? 'application/octet-stream' : 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isFile ? body : JSON.stringify(body) }),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      })
      return { response, text: await response.text() }
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      throw new Unreachable(cause)
    }
  }
}

function addressOf(path: string, { params = {}, query = {} }: Request): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) search.set(name, String(value))
  }
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  return search.size > 0 ? `${filled}?${search}` : filled
}

/** The problem document of an error. Another body, such as a proxy's error page, gets one by its status. */
function problemOf(text: string, status: number): ProblemDocument {
  try {
    const answer = JSON.parse(text)
    if (typeof answer.code === 'string') return answer
  } catch {
    // Not JSON.
  }
  const title = msg`The service answered with status ${status}.`
  return { type: 'about:blank', status, code: 'unknown', title, detail: title }
}

function retryAfter(header: string | null): number | null {
  const seconds = Number(header)
  return header !== null && Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null
}

/** A message for the owner about any error. */
export function explain(error: unknown): string {
  if (error instanceof Refused && error.problem.code === 'too_many_attempts')
    return msg`Too many attempts. ${waitText(error.retryAfterSeconds)}`
  const isExplained = error instanceof Refused || error instanceof Unreachable || error instanceof Explained
  if (isExplained) return error.message
  return msg`Something went wrong on this page. Try reloading it.`
}

function waitText(seconds: number | null): string {
  if (seconds === null) return msg`Try again in a while.`
  if (seconds < 90) return msg`Try again in ${seconds} seconds.`
  return msg`Try again in ${Math.ceil(seconds / 60)} minutes.`
}
