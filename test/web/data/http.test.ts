import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { createHttp, explain, Refused, Unreachable } from '../../../web/src/data/http.ts'

async function startHttp(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it has no port')
  const { port } = address
  return createHttp({
    fetch: (path, init) => fetch(`http://127.0.0.1:${port}${String(path)}`, init),
    onNoSession: () => undefined,
    onNotInstalled: () => undefined,
  })
}

test('an answer comes whole, in whatever pieces its letters arrive', async () => {
  const bytes = Buffer.from(JSON.stringify({ words: 'grüße 🌍' }))
  const http = await startHttp((_request, response) => {
    for (const byte of bytes) response.write(Buffer.from([byte]))
    response.end()
  })
  expect(await http('GET', '/words')).toEqual({ words: 'grüße 🌍' })
})

test('an answer that is cut off on its way is as none', async () => {
  const http = await startHttp((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
    response.write('{"words": "half of', () => response.destroy())
  })
  const error = await http('GET', '/words').catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(Unreachable)
  expect(explain(error)).toBe('The service cannot be reached right now.')
})

test('a refusal carries what was answered beside the problem', async () => {
  const http = await startHttp((_request, response) => {
    response.writeHead(503, { 'content-type': 'application/problem+json' })
    response.end(
      JSON.stringify({ code: 'not_ready', detail: 'Not ready.', checks: { ledger: { ok: false } } }),
    )
  })
  const error = await http('GET', '/ready').catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(Refused)
  expect(error).toMatchObject({ answer: { checks: { ledger: { ok: false } } } })
})

test('an abort by whoever asked is told as theirs', async () => {
  const http = await startHttp(() => undefined)
  const mine = new AbortController()
  const reason = new Error('not wanted any more')
  const asked = http('GET', '/words', { signal: mine.signal })
  mine.abort(reason)
  await expect(asked).rejects.toBe(reason)
})
