import { request } from 'undici'
import { ModelError } from '../port.ts'

/** As the SDK calls it. */
export type Transport = (url: string | URL | Request, init?: RequestInit) => Promise<Response>

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Sends the SDK's requests by undici itself, which Node's fetch is made of, without the web streams and the copies
 * around it: half of what a request costs the event loop. Follows no redirect: it would turn POST into GET, or carry
 * the key to another host. An answer of more than `maxBytes` fails as it is read, with ModelError `malformed`.
 */
export function createTransport(maxBytes: number): Transport {
  return async (url, init = {}) => {
    const { headers, body } = await toSent(init)
    const { method = 'GET', signal = null } = init
    const answer = await request(url instanceof Request ? url.url : url, { method, headers, body, signal })
    return toResponse(answer, maxBytes)
  }
}

/** Text and bytes go as they are; a form is encoded here, since undici knows only its own class of forms. */
async function toSent({ headers, body }: RequestInit) {
  // Nothing here unpacks an answer, and who names no encoding takes any (RFC 9110, 12.5.3).
  const sent = { ...Object.fromEntries(new Headers(headers)), 'accept-encoding': 'identity' }
  if (body === undefined || body === null || typeof body === 'string' || body instanceof Uint8Array)
    return { headers: sent, body: body ?? null }
  const encoded = new Response(body)
  const contentType = encoded.headers.get('content-type')
  return {
    headers: contentType === null ? sent : { ...sent, 'content-type': contentType },
    body: Buffer.from(await encoded.arrayBuffer()),
  }
}

/** The web's Response knows none beyond; a service that says 999 has failed as well. */
const LAST_STATUS = 599

function toResponse(
  { statusCode, headers: raw, body }: Awaited<ReturnType<typeof request>>,
  maxBytes: number,
): Response {
  const headers = new Headers()
  for (const [name, value = []] of Object.entries(raw)) {
    for (const each of [value].flat()) headers.append(name, each)
  }
  const options = { status: Math.min(statusCode, LAST_STATUS), headers }
  const limited = limitBytes(body, maxBytes)
  const whole = () => new Response(toStream(limited), options)
  if (!headers.get('content-type')?.includes('text/event-stream')) return whole()
  // The SDK takes any iterable for the body of events: to make a web stream of it would cost as much as to read it.
  // Where it did not ask for events, it asks for the text.
  return Object.defineProperties(new Response(null, options), {
    body: { value: limited },
    text: { value: () => whole().text() },
  })
}

function toStream(chunks: AsyncGenerator<Bytes>): ReadableStream<Bytes> {
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
async function* limitBytes(body: AsyncIterable<Bytes>, maxBytes: number): AsyncGenerator<Bytes> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes)
      throw new ModelError('malformed', `The model service sent more than ${maxBytes} bytes.`)
    yield chunk
  }
}
