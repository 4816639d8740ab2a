import type { Twilio } from 'twilio'
import type { RequestOptions } from 'twilio/lib/base/RequestClient.js'
import type { request } from 'undici'
import { networkCode, neverReached } from '../../outbound/never-reached.ts'

/** How long the provider may take to answer a request, down to the last byte. */
const REQUEST_MS = 10_000
/** How much of that a connection may take: a request that found none was never sent. */
const CONNECT_MS = 5_000

export type TelephonyCredentials = {
  readonly accountSid: string
  /** The account's auth token, or an API key's secret with its sid. */
  readonly username: string
  readonly password: string
  /** Another address for the provider's API; null for its own. */
  readonly baseUrl: string | null
}

/** What signs in to the provider's API, out of the settings; null where something is missing. */
export function telephonyCredentials(settings: {
  readonly accountSid: string | null
  readonly authToken: string | null
  readonly apiKeySid: string | null
  readonly apiKeySecret: string | null
  readonly baseUrl: string | null
}): TelephonyCredentials | null {
  const { accountSid, authToken, apiKeySid, apiKeySecret, baseUrl } = settings
  if (accountSid === null) return null
  if (authToken !== null) return { accountSid, username: accountSid, password: authToken, baseUrl }
  if (apiKeySid === null || apiKeySecret === null) return null
  return { accountSid, username: apiKeySid, password: apiKeySecret, baseUrl }
}

/**
 * The provider's SDK, loaded at its first use: it takes 100 ms and 15 MB, which a service without a phone does not need.
 * It never repeats a request by itself: only the caller knows what may be done twice. undici sends the requests: the
 * SDK's own client has no limit on the whole answer, and does not say whether it ever had a connection.
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

/** What the SDK reads: JSON, or the words of somebody who is not the provider. */
function parseBody(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Names and values as a form has them; a list repeats its name. */
function pairsOf(fields: object): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each): [string, string] => [name, String(each)]),
  )
}

/**
 * The request got no answer. Says what the network said and nothing else: the network's own error may hold the whole
 * request, and with it the number and the key; whoever logs an error logs all that hangs on it.
 */
export class ProviderUnreachable extends Error {
  override readonly name = 'ProviderUnreachable'
  readonly code: string | null
  /** Whether it is certain that the provider did not get the request. */
  readonly neverReached: boolean
  constructor(error: unknown) {
    const code = networkCode(error) || null
    super(`The telephony provider gave no answer${code === null ? '' : ` (${code})`}.`)
    this.code = code
    this.neverReached = neverReached(error)
  }
}

/** The same path and query at another address. */
function rebase(uri: string, baseUrl: string | null): string {
  if (baseUrl === null) return uri
  const { pathname, search } = new URL(uri)
  return `${baseUrl.replace(/(?<!\/)\/+$/, '')}${pathname}${search}`
}
