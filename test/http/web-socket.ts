import type { IncomingHttpHeaders } from 'node:http'
import { type ClientOptions, WebSocket } from 'ws'
import type { Client } from './client.ts'
import type { Service } from './harness.ts'

/** Opens a socket as a page of the service would. Rejects with the status of a refusal. */
export async function openSocket(
  service: Pick<Service, 'port' | 'origin'>,
  client: Client | null,
  options: SocketOptions = {},
) {
  const headers: Record<string, string> = {
    ...(client?.cookie() === undefined ? {} : { cookie: client.cookie() ?? '' }),
    ...(options.origin === null ? {} : { origin: options.origin ?? service.origin }),
    ...(options.host === undefined ? {} : { host: options.host }),
  }
  const clientOptions: ClientOptions = { headers, autoPong: true }
  const socket = new WebSocket(`ws://127.0.0.1:${service.port}${options.path ?? '/chat'}`, clientOptions)
  const heard: string[] = []
  let handshake: IncomingHttpHeaders = {}
  socket.on('upgrade', ({ headers: answered }) => {
    handshake = answered
  })
  let onMessage: ((text: string) => void) | undefined
  socket.on('message', (data) => {
    heard.push(String(data))
    onMessage?.(String(data))
  })
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('unexpected-response', (_request, response) => {
      reject(new SocketRefused(response.statusCode ?? 0, response.headers))
      response.resume()
    })
    socket.on('error', reject)
  })
  // The stream that ws itself reads from.
  const connection = (socket as unknown as { _socket: import('node:net').Socket })._socket
  return {
    heard,
    /** The headers of the handshake response. */
    handshake,
    /** The code that the socket closed with. */
    closed,
    /** Resolves when the connection is gone. */
    ended: new Promise<void>((resolve) => connection.on('close', () => resolve())),
    send: (text: string) => connection.write(frame(text)),
    ask: (text: string) =>
      new Promise<string>((resolve) => {
        onMessage = resolve
        socket.send(text)
      }),
    /** Makes the peer ignore everything from the service. */
    deaf() {
      connection.removeAllListeners('data')
      connection.resume()
    },
  }
}

export type SocketOptions = {
  readonly origin?: string | null
  readonly path?: string
  readonly host?: string
}

export class SocketRefused extends Error {
  readonly status: number
  readonly headers: Record<string, unknown>
  constructor(status: number, headers: Record<string, unknown>) {
    super(`the upgrade was refused with ${status}`)
    this.status = status
    this.headers = headers
  }
}

/** A masked text frame of fewer than 126 bytes (RFC 6455, 5.2), with a mask of zeros. */
function frame(text: string): Buffer {
  const payload = Buffer.from(text)
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}
