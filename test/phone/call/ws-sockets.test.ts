import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { connectRealtime } from '../../../src/phone/call/ws-sockets.ts'

/** Connects to a service that answers no ping by itself. */
async function connect() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, autoPong: false })
  await new Promise((resolve) => server.once('listening', resolve))
  const accepted = new Promise<WebSocket>((resolve) => server.once('connection', resolve))
  const opened = Promise.withResolvers<void>()
  const closed = vi.fn()
  let received: (text: string) => void = () => undefined
  const { port } = server.address() as AddressInfo
  connectRealtime({ url: `ws://127.0.0.1:${port}`, headers: {} })({
    opened: opened.resolve,
    message: (text) => received(text),
    closed,
  })
  await opened.promise
  const service = await accepted
  onTestFinished(() => {
    vi.useRealTimers()
    service.terminate()
    server.close()
  })
  return {
    closed,
    /** Resolves once the answer to all pings has arrived. */
    async pong() {
      const arrived = new Promise((resolve) => {
        received = resolve
      })
      service.pong()
      service.send('{}')
      await arrived
    },
  }
}

test('closes within three seconds if the service answers no ping', async () => {
  const { closed } = await connect()
  vi.advanceTimersByTime(2_800)
  await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce())
  expect(closed.mock.lastCall?.[0]).toContain('no answer to a ping')
})

test('keeps a service whose answer is late', async () => {
  const { closed, pong } = await connect()
  for (let round = 0; round < 3; round += 1) {
    vi.advanceTimersByTime(1_800)
    await pong()
  }
  expect(closed).not.toHaveBeenCalled()
})
