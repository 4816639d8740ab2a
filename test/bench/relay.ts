import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'

/** The yardstick: copies messages between a caller's socket and the model's, and does nothing else. */
export function relay(line: WebSocket, modelUrl: string): void {
  const model = new WebSocket(modelUrl, { perMessageDeflate: false })
  model.on('open', () => {
    line.on('message', (data, isBinary) => model.send(data, { binary: isBinary }))
    model.on('message', (data, isBinary) => line.send(data, { binary: isBinary }))
    line.send('open')
  })
  line.on('close', () => model.close())
}

/** Starts a relay on this thread's event loop; resolves to its port. */
export async function startRelay(modelUrl: string): Promise<number> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  server.on('connection', (socket) => relay(socket, modelUrl))
  await new Promise((resolve) => server.once('listening', resolve))
  return (server.address() as AddressInfo).port
}
