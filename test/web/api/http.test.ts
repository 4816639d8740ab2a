import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { Explained } from '../../../web/src/api/explained.ts'
import { createHttp, explain, Refused, Unreachable } from '../../../web/src/api/http.ts'

async function startHttp(answer: RequestListener, stepUp = async () => false) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const { port } = address
  return createHttp({
    fetch: (path, init) => fetch(`http://127.0.0.1:${port}${String(path)}`, init),
    stepUp,
    onNoSession: () => undefined,
    onNotInstalled: () => undefined,
  })
}

test('decodes characters that are split between chunks', async () => {
  const bytes = Buffer.from(JSON.stringify({ publicUrl: 'grüße 🌍' }))
  const http = await startHttp((_request, response) => {
    for (const byte of bytes) response.write(Buffer.from([byte]))
    response.end()
  })
  expect(await http.get('/public-url')).toEqual({ publicUrl: 'grüße 🌍' })
})

test('throws Unreachable if the response is cut off', async () => {
  const http = await startHttp((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
    response.write('{"words": "half of', () => response.destroy())
  })
  const error = await http.get('/public-url').catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(Unreachable)
  expect(explain(error)).toBe('The service cannot be reached right now.')
})

test('keeps every member of a problem document', async () => {
  const http = await startHttp((_request, response) => {
    response.writeHead(503, { 'content-type': 'application/problem+json' })
    response.end(
      JSON.stringify({ code: 'not_ready', detail: 'Not ready.', checks: { ledger: { ok: false } } }),
    )
  })
  const error = await http.get('/ready').catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(Refused)
  expect(error).toMatchObject({ problem: { checks: { ledger: { ok: false } } }, errors: [] })
})

test('makes a problem of a proxy’s error page', async () => {
  const http = await startHttp((_request, response) => response.writeHead(502).end('<html>'))
  const error = await http.get('/ready').catch((caught: unknown) => caught)
  expect(error).toMatchObject({ problem: { status: 502, code: 'unknown' } })
  expect(explain(error)).toBe('The service answered with status 502.')
})

test('fills the path, leaves out null and encodes both', async () => {
  const http = await startHttp((request, response) => response.end(JSON.stringify({ url: request.url })))
  expect(await http.get('/api/notes/{id}', { params: { id: 'a/b' } })).toEqual({ url: '/api/notes/a%2Fb' })
  expect(await http.get('/api/notes', { query: { q: 'a b', cursor: null, limit: 5 } })).toEqual({
    url: '/api/notes?q=a+b&limit=5',
  })
})

test('rejects with the caller’s abort reason', async () => {
  const http = await startHttp(() => undefined)
  const mine = new AbortController()
  const reason = new Error('no longer needed')
  const asked = http.get('/public-url', { signal: mine.signal })
  mine.abort(reason)
  await expect(asked).rejects.toBe(reason)
})

test('asks for a proof of who is there and repeats the request, once', async () => {
  const isProven = [true, false]
  let requests = 0
  const http = await startHttp(
    (_request, response) => {
      requests += 1
      response.writeHead(requests === 2 ? 200 : 403, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify({ code: 'step_up_required', detail: 'Confirm that it is you.' }))
    },
    async () => isProven.shift() ?? false,
  )
  await http.del('/api/config/{key}', { params: { key: 'PUBLIC_URL' } })
  expect(requests).toBe(2)
  const refused = http.del('/api/config/{key}', { params: { key: 'PUBLIC_URL' } })
  await expect(refused).rejects.toMatchObject({ problem: { code: 'step_up_required' } })
  expect(requests).toBe(3)
})

test('shows a message that is for the owner, and no other', () => {
  expect(explain(new Explained('Notifications were not allowed.'))).toBe('Notifications were not allowed.')
  expect(explain(new Error('x is undefined'))).toBe('Something went wrong on this page. Try reloading it.')
})
