import type { OpenAI } from 'openai'
import { giveWay } from '../../give-way.ts'
import { ModelError } from '../port.ts'

export const OPENAI_BASE_URL = 'https://api.openai.com/v1'

/** Where the model service is, and what it is shown; local servers want nothing. */
export type Endpoint = { readonly baseUrl: string; readonly authorization: string | null }

/**
 * The endpoint of a base URL and a key. Credentials inside the URL, which fetch refuses, become Basic
 * authentication where there is no key.
 */
export function toEndpoint(baseUrl: string, apiKey: string | null): Endpoint {
  const url = new URL(baseUrl)
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  url.username = ''
  url.password = ''
  const basic = credentials === ':' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`
  return {
    baseUrl: url.href.replace(/\/+$/, ''),
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
  options: { readonly maxResponseBytes: number; readonly fetch?: typeof globalThis.fetch },
): LoadClient {
  let client: Promise<OpenAI> | null = null
  const fetch = limitedFetch(options.fetch ?? globalThis.fetch, options.maxResponseBytes)
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
          // A redirect would turn POST into GET, or carry the key to another host.
          fetchOptions: { redirect: 'manual' },
          fetch,
        }),
    )
    return client
  }
}

function limitedFetch(fetch: typeof globalThis.fetch, maxBytes: number): typeof globalThis.fetch {
  return async (input, init) => {
    // What the request was made of and what sends it are each a while; a frame of a call may go between.
    await giveWay()
    const response = await fetch(input, init)
    const { body, status, statusText, headers } = response
    if (!body) return response
    const limited = limitBytes(body, maxBytes)
    const asResponse = () => new Response(toStream(limited), { status, statusText, headers })
    if (!headers.get('content-type')?.includes('text/event-stream')) return asResponse()
    // The SDK takes any iterable for the body of events: to make a web stream of it again would cost as much as to
    // read it. Where it did not ask for events, it asks for the text.
    return Object.defineProperties(response, {
      body: { value: limited },
      text: { value: () => asResponse().text() },
    })
  }
}

function toStream<T>(chunks: AsyncGenerator<T>): ReadableStream<T> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return(undefined)
    },
  })
}

/** The same bytes, failing once there are more than `maxBytes` of them. */
async function* limitBytes(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  maxBytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes)
      throw new ModelError('malformed', `The model service sent more than ${maxBytes} bytes.`)
    yield chunk
  }
}
