import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { connectTelephony } from '../../../src/phone/line/rest.ts'

const ACCOUNT = `AC${'1'.repeat(32)}`

async function clientOf(answer: RequestListener) {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return connectTelephony(
    { accountSid: ACCOUNT, username: ACCOUNT, password: 'key', baseUrl: `http://127.0.0.1:${port}` },
    { requestMs: 300 },
  )
}

const MESSAGE = { from: '+14155550111', to: '+14155550122', body: 'Hello' }

test.each<[string, RequestListener]>([
  ['sends nothing', () => undefined],
  [
    'sends its answer byte by byte',
    (_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json' })
      const timer = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(timer))
    },
  ],
])('gives up on a provider that %s after the time limit', async (_what, answer) => {
  const client = await clientOf(answer)
  const startMs = performance.now()
  await expect(client.messages.create(MESSAGE)).rejects.toMatchObject({
    name: 'ProviderUnreachable',
    neverReached: false,
  })
  expect(performance.now() - startMs).toBeLessThan(2_000)
})

test('knows that a request without a connection never reached the provider', async () => {
  const client = await connectTelephony({
    accountSid: ACCOUNT,
    username: ACCOUNT,
    password: 'key',
    baseUrl: 'http://127.0.0.1:1',
  })
  await expect(client.messages.create(MESSAGE)).rejects.toMatchObject({
    code: 'ECONNREFUSED',
    neverReached: true,
  })
})
