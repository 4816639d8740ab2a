// @module-tag long

import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { DEFAULT_SERVER_LIMITS } from '../../src/http/server/http-server.ts'
import { startService } from './harness.ts'

/** How long any client may take for a request. */
const CLOSED_WITHIN_MS = 15_000
const DRIP_MS = 100

/** Writes the start of a request, then adds a little forever. Resolves to the response once cut off. */
function drip(port: number, head: string, drop: () => string): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(head))
    const dripping = setInterval(() => socket.write(drop()), DRIP_MS)
    onTestFinished(() => void socket.destroy())
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearInterval(dripping)
      resolve(answer)
    })
  })
}

test('closes a client that never stops sending within 15 seconds, while it serves others', async () => {
  const service = await startService({ limits: DEFAULT_SERVER_LIMITS })
  const client = await service.signedIn()
  const { port } = service
  const host = `Host: 127.0.0.1:${port}\r\n`
  const post = `POST /api/things HTTP/1.1\r\n${host}Cookie: ${client.cookie()}\r\nContent-Type: application/json\r\n`
  const dripping = Promise.all([
    drip(port, `GET /health HTTP/1.1\r\n${host}X: `, () => 'x'),
    drip(port, `GET /health HTTP/1.1\r\n${host}`, () => 'X: x\r\n'),
    drip(port, 'G', () => 'E'),
    drip(port, `GET /chat HTTP/1.1\r\n${host}Upgrade: websocket\r\nConnection: Upgrade\r\nX: `, () => 'x'),
    drip(port, `${post}Content-Length: 100000\r\n\r\n{"name":"`, () => 'x'),
    drip(port, `${post}Transfer-Encoding: chunked\r\n\r\n9\r\n{"name":"\r\n`, () => '1\r\nx\r\n'),
    drip(port, `POST /login HTTP/1.1\r\n${host}Content-Length: 100000\r\n\r\n`, () => ' '),
  ])
  let isOver = false
  void dripping.then(() => {
    isOver = true
  })
  // Counts intervals instead of reading a clock, because a delay of this process affects both sides.
  let drops = 0
  for (; !isOver; drops += 1) {
    expect((await client.get('/health')).status).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, DRIP_MS))
  }
  expect(drops * DRIP_MS).toBeLessThan(CLOSED_WITHIN_MS)
  for (const answer of await dripping) expect(answer).toMatch(/^(?:HTTP\/1\.1 4\d\d .*)?$/s)
  expect(service.things).toEqual([])
})
