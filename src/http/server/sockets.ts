import { createServer, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { createNodeWebSocket } from '@hono/node-ws'
import type { WebSocket } from 'ws'
import { english } from '../../language/message.ts'
import type { Sessions } from '../../settings/sessions.ts'
import { type Guards, guard } from './app.ts'
import { createRoutes, type HttpContext } from './env.ts'
import { Refusal } from './problem.ts'
import { writeRefusal } from './raw-refusal.ts'

/** A WebSocket endpoint. */
export type SocketRoute = {
  readonly path: string
  /** A larger message closes the connection with 1009. */
  readonly maxMessageBytes: number
  readonly onOpen: (socket: WebSocket, c: HttpContext) => void
}

export type Sockets = {
  /** Accepts or refuses an upgrade. */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void
  /** How many are open. */
  count(): number
  /** Closes every open socket with 1001 (going away). */
  close(): void
  /** Terminates every open socket at once. */
  terminate(): void
}

/** RFC 6455, 7.4.1 */
const GOING_AWAY = 1001
const POLICY_VIOLATION = 1008
const INTERNAL_ERROR = 1011
const LIMITS = {
  // Limits on the fragments of a message and on the chunks that its bytes arrive in. Each piece takes far more
  // memory than its content, and no browser or provider needs this many.
  maxFragments: 256,
  maxBufferedChunks: 4_096,
  // How many milliseconds a peer may take to close its side.
  closeTimeout: 500,
}
/** A dead peer is noticed after at most two of these. */
const PING_EVERY_MS = 30_000
const KEY = /^[+/0-9A-Za-z]{22}==$/

/** Serves WebSockets as routes behind the access check. When a session ends, its sockets close. */
export function createSockets(
  options: Guards & {
    readonly routes: readonly SocketRoute[]
    readonly sessions: Pick<Sessions, 'onEnded'>
    readonly newId: () => string
  },
): Sockets {
  const { routes, sessions, newId, log, onFault } = options
  const app = createRoutes()
  guard(app, options, 'UPGRADE')
  const { upgradeWebSocket, injectWebSocket, wss } = createNodeWebSocket({ app })
  const maxPayloads = new WeakMap<object, number>()
  Object.assign(wss.options, LIMITS)
  wss.on('headers', (headers, incoming) => {
    // Every response carries a request id, the handshake included.
    headers.push(`x-request-id: ${newId()}`)
    // All routes share one server, which applies its limits to the socket right after this event.
    wss.options.maxPayload = maxPayloads.get(incoming)
  })
  for (const route of routes) {
    const upgrade = upgradeWebSocket((c: HttpContext) => {
      maxPayloads.set(c.env.incoming, route.maxMessageBytes)
      return { onOpen: (_event, { raw }) => raw && start(raw, route, c) }
    })
    app.get(route.path, upgrade)
  }
  // The library's handler hangs on a server without a port, so it gets only what `upgrade` hands over.
  const checked = createServer()
  injectWebSocket(checked)

  function start(socket: WebSocket, route: SocketRoute, c: HttpContext): void {
    const stopPinging = keepAlive(socket)
    const session = c.get('session')
    const unsubscribe =
      session === null ? undefined : sessions.onEnded(session.id, () => endWithSession(socket))
    socket.on('error', (error) => log.debug({ err: error, path: route.path }, 'A socket failed'))
    socket.once('close', () => {
      stopPinging()
      unsubscribe?.()
    })
    try {
      route.onOpen(socket, c)
    } catch (error) {
      log.error({ err: error, path: route.path }, 'A socket could not be served')
      onFault(error)
      socket.close(INTERNAL_ERROR, 'Reconnect.')
    }
  }

  return {
    upgrade(incoming, socket, head) {
      socket.on('error', (error) => log.debug({ err: error }, 'A connection failed'))
      // The peer of a refused upgrade may never close its side.
      socket.once('finish', () => maxPayloads.has(incoming) || socket.destroy())
      if (!isHandshake(incoming)) return writeRefusal(socket, MALFORMED, newId())
      // No route has a subprotocol.
      delete incoming.headers['sec-websocket-protocol']
      // The response to an earlier request on this connection may close it in this very tick.
      queueMicrotask(() => {
        if (socket.writable) checked.emit('upgrade', incoming, socket, head)
      })
    },
    count: () => wss.clients.size,
    close() {
      for (const socket of wss.clients) socket.close(GOING_AWAY, 'The service is stopping.')
    },
    terminate() {
      for (const socket of wss.clients) socket.terminate()
    },
  }
}

const MALFORMED = new Refusal(400, 'malformed_request', english`This is not a WebSocket handshake.`)

/**
 * Whether the library can complete the handshake. It throws where nothing catches the error if it cannot parse the
 * URL, and never forgets a handshake that fails after its route accepted it.
 */
function isHandshake({ method, url = '', headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    // A path, not an address with a host; URL parsers read a backslash as a slash.
    /^\/(?![/\\])/.test(url) &&
    // Node joins several Hosts, of which a proxy may have used the other (RFC 9112, 3.2).
    !headers.host?.includes(',') &&
    headers['sec-websocket-version'] === '13' &&
    KEY.test(headers['sec-websocket-key'] ?? '')
  )
}

/** Closes a socket and ignores whatever the peer still sends. */
function endWithSession(socket: WebSocket): void {
  socket.removeAllListeners('message')
  socket.close(POLICY_VIOLATION, 'The session has ended.')
}

/** Terminates a connection whose last ping went unanswered. Returns a function that stops pinging. */
function keepAlive(socket: WebSocket): () => void {
  let isAlive = true
  socket.on('pong', () => {
    isAlive = true
  })
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate()
    isAlive = false
    socket.ping()
  }, PING_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
