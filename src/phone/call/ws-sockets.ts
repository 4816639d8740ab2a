import { WebSocket } from 'ws'
import type { ConnectModel } from './ports.ts'

/** The largest event is a finished response with its texts. */
const MAX_EVENT_BYTES = 4 * 1024 * 1024
const HANDSHAKE_MS = 5_000
/**
 * Interval between pings. A peer that misses two in a row is gone, because the caller must be told within three seconds.
 * One answer may be late, or unread while this process is blocked.
 */
const PING_MS = 900
const MAX_UNANSWERED = 2

/** Connects to the realtime service over a WebSocket. */
export function connectRealtime(endpoint: {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}): ConnectModel {
  return (handlers) => {
    const socket = new WebSocket(endpoint.url, {
      headers: endpoint.headers,
      maxPayload: MAX_EVENT_BYTES,
      handshakeTimeout: HANDSHAKE_MS,
      perMessageDeflate: false,
    })
    let detail = ''
    let unanswered = 0
    const heartbeat = setInterval(() => {
      if (unanswered >= MAX_UNANSWERED) {
        detail = 'no answer to a ping'
        socket.terminate()
      } else if (socket.readyState === WebSocket.OPEN) {
        unanswered += 1
        socket.ping()
      }
    }, PING_MS)
    heartbeat.unref()

    socket.on('open', () => handlers.opened())
    socket.on('pong', () => {
      unanswered = 0
    })
    socket.on('message', (data, isBinary) => {
      if (!isBinary) handlers.message(data.toString())
    })
    socket.on('error', (error) => {
      detail = error.message
    })
    socket.on('close', (code, reason) => {
      clearInterval(heartbeat)
      handlers.closed(`${code} ${reason.toString()} ${detail}`.trim())
    })
    return {
      send(text) {
        if (socket.readyState === WebSocket.OPEN) socket.send(text)
      },
      close: () => socket.close(1000),
      get bufferedBytes() {
        return socket.bufferedAmount
      },
    }
  }
}

/** Wraps an accepted WebSocket as a text socket for a media stream. */
export function textSocket(socket: WebSocket) {
  return {
    send(text: string) {
      if (socket.readyState === WebSocket.OPEN) socket.send(text)
    },
    close(code = 1000, reason = '') {
      socket.close(code, reason)
    },
    get bufferedBytes() {
      return socket.bufferedAmount
    },
    listen(handlers: { message(text: string): void; closed(): void }) {
      socket.on('message', (data, isBinary) => {
        if (!isBinary) handlers.message(data.toString())
      })
      // For example a frame over the size limit. `close` follows.
      socket.on('error', () => socket.terminate())
      socket.on('close', () => handlers.closed())
    },
  }
}
