import { type Problem, parseProblem } from './problem.ts'

/** The service answered with an error. */
export class Refused extends Error {
  readonly problem: Problem
  /** From the `Retry-After` header. */
  readonly retryAfterSeconds: number | null
  /** The whole response body, including fields beyond those of `problem`. */
  readonly answer: unknown
  constructor(problem: Problem, retryAfterSeconds: number | null, answer: unknown) {
    super(problem.detail)
    this.name = 'Refused'
    this.problem = problem
    this.retryAfterSeconds = retryAfterSeconds
    this.answer = answer
  }
}

/** No complete answer arrived: the service or the network is down. */
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
  /** Additional headers, such as `If-Match`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request and returns its JSON. Throws Refused, Unreachable or the reason of the abort signal. */
export type Http = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  options?: RequestOptions,
) => Promise<unknown>

/** A response times out after this long without data. Changes get longer: they may wait for the model. */
const silenceLimitMs = { read: 30_000, change: 300_000 } as const

/** `onNoSession` runs on 401, except for a wrong password. */
export function createHttp(options: {
  readonly fetch: typeof fetch
  readonly onNoSession: () => void
  readonly onNotInstalled: () => void
}): Http {
  return async (method, path, { body, query, signal, headers } = {}) => {
    const silence = new AbortController()
    const limitMs = method === 'GET' ? silenceLimitMs.read : silenceLimitMs.change
    const giveUp = () => silence.abort(new Error(`no data for ${limitMs} ms`))
    let timer = setTimeout(giveUp, limitMs)
    const heard = () => {
      clearTimeout(timer)
      timer = setTimeout(giveUp, limitMs)
    }
    const { response, text } = await exchange().finally(() => clearTimeout(timer))
    if (response.ok) return text === '' ? null : JSON.parse(text)
    const answer = parsed(text)
    const problem = parseProblem(answer, response.status)
    if (response.status === 401 && problem.code !== 'wrong_password') options.onNoSession()
    if (problem.code === 'not_configured' && response.status === 503) options.onNotInstalled()
    throw new Refused(problem, retryAfter(response.headers.get('retry-after')), answer)

    /** A response that is cut off counts as Unreachable. */
    async function exchange(): Promise<{ readonly response: Response; readonly text: string }> {
      try {
        const response = await send()
        return { response, text: await textOf(response, heard) }
      } catch (cause) {
        if (signal?.aborted) throw signal.reason
        throw new Unreachable(cause)
      }
    }

    function send(): Promise<Response> {
      const search = new URLSearchParams()
      for (const [name, value] of Object.entries(query ?? {})) {
        if (value !== null && value !== undefined) search.set(name, String(value))
      }
      const url = search.size > 0 ? `${path}?${search}` : path
      return options.fetch(url, {
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
        signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
      })
    }
  }
}

async function textOf(response: Response, heard: () => void): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (reader) {
    heard()
    const { done, value } = await reader.read()
    if (done) break
    text += value
  }
  return text
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

/** A message for the owner about any error. */
export function explain(error: unknown): string {
  if (error instanceof Refused || error instanceof Unreachable) return error.message
  return error instanceof Error && error.name === 'UnexpectedAnswer'
    ? error.message
    : 'Something went wrong on this page. Try reloading it.'
}
