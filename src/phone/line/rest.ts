import type { Twilio } from 'twilio'
import type { RequestOptions } from 'twilio/lib/base/RequestClient.js'
import type { request } from 'undici'
import { ProviderUnreachable } from '../../lib/never-reached.ts'

/** Time limit of a request, including the response body. */
const REQUEST_MS = 10_000
/** Time limit for connecting. A request that times out here was never sent. */
const CONNECT_MS = 5_000

export type TelephonyCredentials = {
  readonly accountSid: string
  /** The account's auth token, or an API key's secret with its sid. */
  readonly username: string
  readonly password: string
  /** Replaces the address of the provider's API. */
  readonly baseUrl: string | null
}

/**
 * Loads the provider's SDK, which costs 100 ms and 15 MB, only when needed. It never retries by itself,
 * because only the caller knows whether that is safe. undici sends the requests: the SDK's own client has no
 * total time limit and does not report whether it connected.
 */
export async function connectTelephony(
  credentials: TelephonyCredentials,
  { requestMs = REQUEST_MS }: { readonly requestMs?: number | undefined } = {},
): Promise<Twilio> {
  const [{ default: twilio }, { default: RequestClient }, undici] = await Promise.all([
    import('twilio'),
    import('twilio/lib/base/RequestClient.js'),
    import('undici'),
  ])
  const { accountSid, username, password, baseUrl } = credentials
  const dispatcher = new undici.EnvHttpProxyAgent({ connect: { timeout: CONNECT_MS } })
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

  class HttpClient extends RequestClient {
    override async request<T>({ method, uri, params, data }: RequestOptions<T>) {
      const url = new URL(rebase(uri, baseUrl))
      for (const [name, value] of pairsOf(params ?? {})) url.searchParams.append(name, value)
      const form = method === 'get' ? null : new URLSearchParams(pairsOf({ ...data })).toString()
      const { statusCode, text, headers } = await send(url, {
        method: method.toUpperCase(),
        headers: {
          authorization,
          accept: 'application/json',
          ...(form === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        body: form,
      })
      const answered = { statusCode, body: parseBody(text), headers }
      this.lastResponse = answered
      return answered
    }
  }

  async function send(
    url: URL,
    init: Pick<NonNullable<Parameters<typeof request>[1]>, 'method' | 'headers' | 'body'>,
  ) {
    try {
      const answer = await undici.request(url, {
        ...init,
        dispatcher,
        signal: AbortSignal.timeout(requestMs),
      })
      return { statusCode: answer.statusCode, text: await answer.body.text(), headers: answer.headers }
    } catch (error) {
      throw new ProviderUnreachable(error)
    }
  }

  return twilio(username, password, { accountSid, httpClient: new HttpClient(), autoRetry: false })
}

/** Text if it is not JSON, for example from a gateway. */
function parseBody(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The fields of a form. A list repeats its name. */
function pairsOf(fields: object): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each): [string, string] => [name, String(each)]),
  )
}

/** Replaces the origin of a URI with `baseUrl`. */
function rebase(uri: string, baseUrl: string | null): string {
  if (baseUrl === null) return uri
  const { pathname, search } = new URL(uri)
  return `${baseUrl.replace(/(?<!\/)\/+$/, '')}${pathname}${search}`
}
