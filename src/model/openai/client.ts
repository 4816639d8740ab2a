import type { OpenAI } from 'openai'
import * as z from 'zod'
import { english } from '../../language/message.ts'
import { parseJson } from '../../lib/parse-json.ts'
import { ModelError, type RealtimeEndpoint } from '../port.ts'

/** The base URL, without a slash at the end, and the Authorization header; null for a server that needs none. */
export type Endpoint = { readonly baseUrl: string; readonly authorization: string | null }

/** The realtime WebSocket endpoint for a base URL: http becomes ws, https becomes wss. */
export function realtimeEndpoint(
  { baseUrl, authorization }: Endpoint,
  model: string,
): Pick<RealtimeEndpoint, 'url' | 'headers' | 'model'> {
  const url = new URL(`${baseUrl}/realtime`)
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:'
  url.searchParams.set('model', model)
  return { url: url.href, headers: authorization === null ? {} : { Authorization: authorization }, model }
}

/** Loads the SDK on the first call, because importing it takes 100 ms. */
export type LoadClient = () => Promise<OpenAI>

/**
 * Loads the SDK as a plain client: no retries, no logging, nothing from the environment, and no redirects,
 * which could leak the key to another host. Reading more than `maxResponseBytes` of a response throws
 * ModelError `malformed`.
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
          // The SDK requires a key, but we set the header.
          apiKey: 'unused',
          defaultHeaders: { Authorization: endpoint.authorization },
          adminAPIKey: null,
          organization: null,
          project: null,
          webhookSecret: null,
          maxRetries: 0,
          logLevel: 'off',
          // Never reached: our deadline aborts first.
          timeout: 24 * 60 * 60 * 1000,
          fetchOptions: { redirect: 'manual' },
          fetch: async (url, init) =>
            withPlainError(limitBytes(await fetch(url, init), options.maxResponseBytes)),
        }),
    )
    return client
  }
}

/** Without a limit, a broken or hostile server could fill the memory of the process. */
function limitBytes({ body, status, headers }: Response, maxBytes: number): Response {
  let bytes = 0
  const limiter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes > maxBytes)
        throw new ModelError('malformed', english`The model service sent more than ${maxBytes} bytes.`)
      controller.enqueue(chunk)
    },
  })
  // `Response` accepts no status above 599; some servers send 999.
  return new Response(body?.pipeThrough(limiter) ?? null, { status: Math.min(status, 599), headers })
}

/** The longest answer that may be an error under status 200. */
const SHORT_BYTES = 1000

/** Gives an error its usual form. LM Studio answers 200 to an unknown path. */
async function withPlainError(response: Response): Promise<Response> {
  const { status, headers } = response
  const isShort = Number(headers.get('content-length') ?? Number.POSITIVE_INFINITY) < SHORT_BYTES
  const isJson = headers.get('content-type')?.includes('application/json')
  if (!isJson || (status < 400 && !isShort)) return response
  // An error counts by its status, even if its body breaks off.
  const text = await response.text().catch((error: unknown) => {
    if (status < 400) throw error
    return ''
  })
  if (status >= 400) return new Response(toPlainError(text), { status, headers })
  const isNoPath = /^\{"error":"unexpected endpoint/i.test(text)
  return new Response(text, { status: isNoPath ? 404 : status, headers })
}

/** Gemini sends a list, vLLM and others the bare message, and servers in Python a detail. */
const errorSchema = z.union([
  z.looseObject({ error: z.looseObject({}) }),
  z.tuple([z.looseObject({ error: z.unknown() })]).transform(([body]) => body),
  z.object({ message: z.string() }).transform((error) => ({ error })),
  z.object({ detail: z.string() }).transform(({ detail }) => ({ error: { message: detail } })),
  z
    .object({ detail: z.array(z.object({ loc: z.array(z.unknown()), msg: z.string() })) })
    .transform(({ detail }) => ({
      error: { message: detail.map(({ loc, msg }) => `"${loc.join('" "')}" ${msg}`).join('; ') },
    })),
])

function toPlainError(text: string): string {
  const plain = errorSchema.safeParse(parseJson(text))
  return plain.success ? JSON.stringify(plain.data) : text
}
