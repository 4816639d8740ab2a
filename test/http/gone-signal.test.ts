import { once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { goneSignal, type HttpContext } from '../../src/http/server/env.ts'

/** A request to a real server, and the pending response of its route. */
async function ask() {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const asked = once(server, 'request')
  const { port } = server.address() as AddressInfo
  const client = request({ host: '127.0.0.1', port })
  client.on('error', () => undefined)
  client.end()
  const [, outgoing] = (await asked) as [unknown, ServerResponse]
  const context = { env: { outgoing } } as Partial<HttpContext> as HttpContext
  return { client, outgoing, context }
}

test('notices a client that disconnects, before and after the route asks', async () => {
  const { client, outgoing, context } = await ask()
  const early = goneSignal(context)
  expect(early.aborted).toBe(false)
  const closed = once(outgoing, 'close')
  client.destroy()
  await closed
  expect(early.aborted).toBe(true)
  expect(goneSignal(context).aborted).toBe(true)
})

test('does not abort for a client that has its response', async () => {
  const { client, outgoing, context } = await ask()
  const signal = goneSignal(context)
  const closed = once(outgoing, 'close')
  outgoing.end('tea')
  const [response] = await once(client, 'response')
  response.resume()
  await closed
  expect(signal.aborted).toBe(false)
  expect(goneSignal(context).aborted).toBe(false)
})
