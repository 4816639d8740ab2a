import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createClientLoader } from '../../../src/model/openai/client.ts'
import { startRawServer } from './raw-server.ts'

const MAX_BYTES = 100_000
const CHUNK = Buffer.alloc(10_000, ' ')

const clientOf = (baseUrl: string) =>
  createClientLoader({ baseUrl, authorization: 'Bearer key' }, { maxResponseBytes: MAX_BYTES })()

/** A client of a server with an endless body, and how many bytes the server has sent. */
async function endless(status: number, contentType: string) {
  let bytes = 0
  const url = await startRawServer(async (_request, response) => {
    response.writeHead(status, { 'content-type': contentType })
    while (!response.destroyed) {
      bytes += CHUNK.length
      response.write(CHUNK)
      // Both ends share this event loop: ten turns let the client read what was sent.
      for (let turn = 0; turn < 10; turn += 1) await setImmediate()
    }
  })
  return { client: await clientOf(url), bytes: () => bytes }
}

test.for([
  [200, 'application/json'],
  [200, 'text/event-stream'],
  [200, 'text/plain'],
  [500, 'application/json'],
  [500, 'text/event-stream; charset=utf-8'],
] as const)('reads at most the limit of an endless response, %i in %s', async ([status, contentType]) => {
  const { client, bytes } = await endless(status, contentType)
  await expect(client.embeddings.create({ model: 'm', input: 'tea' })).rejects.toThrow()
  // Stream buffers hold a chunk or two.
  expect(bytes()).toBeLessThanOrEqual(MAX_BYTES + 50_000)
})

test('reads events as they arrive, and at most the limit', async () => {
  const { client, bytes } = await endless(200, 'text/event-stream')
  const events = await client.responses.create({ model: 'm', input: 'tea', stream: true })
  const readAll = async () => {
    for await (const event of events) expect(event).toBeUndefined()
  }
  await expect(readAll()).rejects.toThrow(`more than ${MAX_BYTES} bytes`)
  expect(bytes()).toBeLessThanOrEqual(MAX_BYTES + 50_000)
})

test('does not follow a redirect or send the key there', async () => {
  const elsewhere: IncomingMessage[] = []
  const other = await startRawServer((request, response) => {
    elsewhere.push(request)
    response.end('{}')
  })
  const client = await clientOf(
    await startRawServer((_request, response) => response.writeHead(307, { location: other }).end()),
  )
  await expect(client.embeddings.create({ model: 'm', input: 'tea' })).rejects.toMatchObject({ status: 307 })
  expect(elsewhere).toEqual([])
})

test('treats an unknown HTTP status as a failure', async () => {
  const client = await clientOf(
    await startRawServer((_request, response) => response.writeHead(999).end('and so on')),
  )
  await expect(client.responses.create({ model: 'm', input: 'tea' })).rejects.toMatchObject({ status: 599 })
})

test.for([204, 304])('treats status %i, which has no body, as a failure', async (status) => {
  const client = await clientOf(
    await startRawServer((_request, response) => response.writeHead(status).end()),
  )
  const asked = client.post('/responses', { body: {} }).asResponse()
  await expect(asked.then((response) => response.json())).rejects.toThrow()
})

test('limits the bytes of a compressed response after decompression', async () => {
  const packed = gzipSync(Buffer.alloc(10 * MAX_BYTES, ' '))
  expect(packed.length).toBeLessThan(MAX_BYTES / 10)
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  const client = await clientOf(
    await startRawServer((_request, response) => response.writeHead(200, headers).end(packed)),
  )
  await expect(client.embeddings.create({ model: 'm', input: 'tea' })).rejects.toThrow(
    `more than ${MAX_BYTES} bytes`,
  )
})

test('sends a file as a multipart form with its boundary', async () => {
  const form = Promise.withResolvers<{ type: string; body: string }>()
  const client = await clientOf(
    await startRawServer(async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part)
      form.resolve({ type: request.headers['content-type'] ?? '', body: Buffer.concat(parts).toString() })
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"tea"}')
    }),
  )
  const file = new File(['sound'], 'speech.wav', { type: 'audio/wav' })
  await expect(client.audio.transcriptions.create({ model: 'm', file })).resolves.toMatchObject({
    text: 'tea',
  })
  const { type, body } = await form.promise
  const boundary = type.match(/^multipart\/form-data; boundary=(.+)$/)?.[1] ?? 'none'
  expect(body.split(`--${boundary}`)).toHaveLength(4)
  expect(body).toContain('sound')
})

test('closes the connection of an aborted request', async () => {
  const closed = Promise.withResolvers<void>()
  const client = await clientOf(
    await startRawServer((request, response) => {
      request.socket.once('close', () => closed.resolve())
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"type":"response.created"}\n\n')
    }),
  )
  const stop = new AbortController()
  const events = await client.responses.create(
    { model: 'm', input: 'tea', stream: true },
    { signal: stop.signal },
  )
  const iterator = events[Symbol.asyncIterator]()
  await iterator.next()
  const next = iterator.next()
  stop.abort()
  await next.catch(() => undefined)
  await closed.promise
})
