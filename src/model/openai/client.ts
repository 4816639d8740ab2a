import type { OpenAI } from 'openai'
import { ModelError } from '../port.ts'

/** The service's address and the Authorization header to send; local servers need none. */
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
 * read from the environment. It follows no redirect, which could carry the key to another host. Reading more than
 * `maxResponseBytes` of an answer fails with ModelError `malformed`.
 */
export function createClientLoader(
  endpoint: Endpoint,
  options: { readonly maxResponseBytes: number },
): LoadClient {
  let client: Promise<OpenAI> | null = null
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
          fetchOptions: { redirect: 'manual' },
          fetch: async (url, init) => limitBytes(await fetch(url, init), options.maxResponseBytes),
        }),
    )
    return client
  }
}

/** The highest status that `Response` accepts; some servers send 999. */
const LAST_STATUS = 599

function limitBytes({ body, status, headers }: Response, maxBytes: number): Response {
  let bytes = 0
  const limiter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes > maxBytes)
        throw new ModelError('malformed', `The model service sent more than ${maxBytes} bytes.`)
      controller.enqueue(chunk)
    },
  })
  return new Response(body?.pipeThrough(limiter) ?? null, { status: Math.min(status, LAST_STATUS), headers })
}
