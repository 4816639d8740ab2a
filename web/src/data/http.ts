import { type Problem, parseProblem } from './problem.ts'

/** The service refused, and said why. */
export class Refused extends Error {
  readonly problem: Problem
  /** Seconds to wait, where the service named them. */
  readonly retryAfterSeconds: number | null
  constructor(problem: Problem, retryAfterSeconds: number | null) {
    super(problem.detail)
    this.name = 'Refused'
    this.problem = problem
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** No answer came: the service is down, or the network is. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('The service cannot be reached right now.', { cause })
    this.name = 'Unreachable'
  }
}

export type RequestOptions = {
  readonly body?: unknown
  readonly query?: Readonly<Record<string, string | number | null | undefined>>
  readonly signal?: AbortSignal
  /** Beyond those that every request has, like `If-Match`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends one request and gives its JSON. Throws Refused or Unreachable; an abort throws the signal's reason. */
export type Http = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  options?: RequestOptions,
) => Promise<unknown>

/**
 * `onNoSession` runs when the service no longer knows this browser's session; not for a wrong password, which is
 * refused with 401 too.
 */
export function createHttp(options: {
  readonly fetch: typeof fetch
  readonly onNoSession: () => void
  readonly onNotInstalled: () => void
}): Http {
  return async (method, path, { body, query, signal, headers } = {}) => {
    const response = await send()
    const text = await response.text()
    if (response.ok) return text === '' ? null : JSON.parse(text)
    const problem = parseProblem(parsed(text), response.status)
    if (response.status === 401 && problem.code !== 'wrong_password') options.onNoSession()
    if (problem.code === 'not_configured' && response.status === 503) options.onNotInstalled()
    throw new Refused(problem, retryAfter(response.headers.get('retry-after')))

    async function send(): Promise<Response> {
      const search = new URLSearchParams()
      for (const [name, value] of Object.entries(query ?? {})) {
        if (value !== null && value !== undefined) search.set(name, String(value))
      }
      const url = search.size > 0 ? `${path}?${search}` : path
      try {
        return await options.fetch(url, {
          method,
          credentials: 'same-origin',
          cache: 'no-store',
          redirect: 'error',
          headers: {
            accept: 'application/json, application/problem+json',
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          ...(signal ? { signal } : {}),
        })
      } catch (cause) {
        if (signal?.aborted) throw signal.reason
        throw new Unreachable(cause)
      }
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function retryAfter(header: string | null): number | null {
  const seconds = Number(header)
  return header !== null && Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null
}

/** One sentence for the owner, whatever went wrong. */
export function explain(error: unknown): string {
  if (error instanceof Refused || error instanceof Unreachable) return error.message
  return error instanceof Error && error.name === 'UnexpectedAnswer'
    ? error.message
    : 'Something went wrong in this page. Reloading it may help.'
}
