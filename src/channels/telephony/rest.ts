import type { Twilio } from 'twilio'
import type { RequestOptions } from 'twilio/lib/base/RequestClient.js'

/** How long the provider may take to answer a request. */
const REQUEST_MS = 10_000

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
 * The provider's SDK, loaded at its first use: it takes 100 ms, which nobody who has no phone should wait for. It
 * never repeats a request by itself: only the caller knows what may be done twice.
 */
export async function connectTelephony(credentials: TelephonyCredentials): Promise<Twilio> {
  const [{ default: twilio }, { default: RequestClient }] = await Promise.all([
    import('twilio'),
    import('twilio/lib/base/RequestClient.js'),
  ])
  const { accountSid, username, password, baseUrl } = credentials

  class HttpClient extends RequestClient {
    override async request<T>(request: RequestOptions<T>) {
      try {
        return await super.request<T>({ ...request, uri: rebase(request.uri, baseUrl), timeout: REQUEST_MS })
      } catch (error) {
        throw new ProviderUnreachable(error)
      }
    }
  }
  const httpClient = new HttpClient({ timeout: REQUEST_MS, autoRetry: false })
  return twilio(username, password, { accountSid, httpClient, autoRetry: false })
}

/**
 * The request got no answer. Says what the network said and nothing else: the SDK's own error holds the whole request,
 * and with it the number and, in another spelling, the key; whoever logs an error logs all that hangs on it.
 */
class ProviderUnreachable extends Error {
  override readonly name = 'ProviderUnreachable'
  readonly code: string | null
  constructor(error: unknown) {
    const { code } = typeof error === 'object' && error !== null && 'code' in error ? error : { code: null }
    super(`The telephony provider gave no answer${typeof code === 'string' ? ` (${code})` : ''}.`)
    this.code = typeof code === 'string' ? code : null
  }
}

/** The same path and query at another address. */
function rebase(uri: string, baseUrl: string | null): string {
  if (baseUrl === null) return uri
  const { pathname, search } = new URL(uri)
  return `${baseUrl.replace(/(?<!\/)\/+$/, '')}${pathname}${search}`
}
