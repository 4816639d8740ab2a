import type { IncomingHttpHeaders } from 'node:http'
import type { Answer, Client } from '../http/client.ts'
import { masked } from './masks.ts'

export type Asked = {
  readonly request: string
  /** Request headers in addition to the client's own. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** False sends no session cookie. */
  readonly session?: false
}

export type Exchange = {
  readonly asked: Asked
  readonly status: number
  /** Headers that differ from the standard ones; null for a standard header that is absent. */
  readonly headers: Readonly<Record<string, string | readonly string[] | null>>
  /** The body, if `JSON.stringify` reproduces its exact bytes. */
  readonly json?: unknown
  /** Any other body, as lines. */
  readonly text?: readonly string[]
}

export type Headers = Readonly<Record<string, string | readonly string[]>>

/** Headers that differ in every response or only describe the transfer of the body. */
const NOT_COMPARED: ReadonlySet<string> = new Set([
  'date',
  'x-request-id',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
])

export function comparedHeaders(headers: IncomingHttpHeaders): Headers {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || NOT_COMPARED.has(name) ? [] : [[name, value]],
    ),
  )
}

/** Sends a request from a transcript and returns the response in transcript form. */
export async function exchange(client: Client, asked: Asked, standard: Headers): Promise<[Exchange, Answer]> {
  const [method = '', path = ''] = asked.request.split(' ')
  const cookie = client.cookie()
  if (asked.session === false) client.useCookie(undefined)
  const answer = await client.send(method, path, asked.body, { headers: { ...asked.headers } })
  client.useCookie(cookie)
  const body = bodyOf(masked(path, answer.text))
  return [
    { asked, status: answer.status, headers: special(comparedHeaders(answer.headers), standard), ...body },
    answer,
  ]
}

function special(headers: Headers, standard: Headers): Exchange['headers'] {
  const names = [...new Set([...Object.keys(standard), ...Object.keys(headers)])].sort()
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(headers[name]) !== JSON.stringify(standard[name]))
      .map((name) => [name, headers[name] ?? null]),
  )
}

/** As JSON if that preserves the exact bytes, else as lines. */
export function bodyOf(text: string): Pick<Exchange, 'json' | 'text'> {
  if (text === '') return {}
  try {
    const json: unknown = JSON.parse(text)
    if (JSON.stringify(json) === text) return { json }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return { text: text.split('\n') }
}

/** Describes the first difference between two transcript values; null if they are the same bytes. */
export function firstDifference(expected: unknown, actual: unknown, at = ''): string | null {
  if (JSON.stringify(expected) === JSON.stringify(actual)) return null
  const differs = `${at || 'it'}: expected ${short(expected)}, got ${short(actual)}`
  if (!isObject(expected) || !isObject(actual)) return differs
  const names = [...new Set([...Object.keys(expected), ...Object.keys(actual)])]
  for (const name of names) {
    const found = firstDifference(expected[name], actual[name], at === '' ? name : `${at}.${name}`)
    if (found !== null) return found
  }
  return `${at || 'it'}: the same fields in another order: expected ${Object.keys(expected)}, got ${Object.keys(actual)}`
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
