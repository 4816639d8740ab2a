import type { OpenAI } from 'openai'
import { createTransport } from './transport.ts'

/** Where the model service is, and what it is shown; local servers want nothing. */
export type Endpoint = { readonly baseUrl: string; readonly authorization: string | null }

/**
 * The endpoint of a base URL and a key. Credentials inside the URL become Basic
 * authentication where there is no key.
 */
export function toEndpoint(baseUrl: string, apiKey: string | null): Endpoint {
  const url = new URL(baseUrl)
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  url.username = ''
  url.password = ''
  const basic = credentials === ':' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`
  return {
    baseUrl: url.href.replace(/(?<!\/)\/+$/, ''),
    authorization: apiKey === null ? basic : `Bearer ${apiKey}`,
  }
}

/** Loads the SDK on the first call: importing it takes 100 ms, which a start without a model need not spend. */
export type LoadClient = () => Promise<OpenAI>

/**
 * The SDK as a plain client: no retries of its own (ours know what was passed on), no logging of bodies, nothing
 * read from the environment, and no answer larger than `maxResponseBytes`.
 */
export function createClientLoader(
  endpoint: Endpoint,
  options: { readonly maxResponseBytes: number },
): LoadClient {
  let client: Promise<OpenAI> | null = null
  const fetch = createTransport(options.maxResponseBytes)
  return () => {
    client ??= import('openai').then(
      (sdk) =>
        new sdk.OpenAI({
          baseURL: endpoint.baseUrl,
          // The SDK wants a key, even though the header is ours.
          apiKey: 'unused',
          defaultHeaders: { Authorization: endpoint.authorization },
          adminAPIKey: null,
          organization: null,
          project: null,
          webhookSecret: null,
          maxRetries: 0,
          logLevel: 'off',
          // Our own deadline aborts first.
          timeout: 24 * 60 * 60 * 1000,
          fetch,
        }),
    )
    return client
  }
}
