import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Log } from '../../lib/log.ts'
import type { Session, Sessions } from '../../settings/sessions.ts'
import { pathOf } from './env.ts'
import { Refusal } from './problem.ts'
import { writeRefusal } from './raw-refusal.ts'

/** A WebSocket endpoint. */
export type SocketRoute = {
  readonly path: string
  /** A larger message closes the connection with 1009. */
  readonly maxMessageBytes: number
  readonly onOpen: (socket: WebSocket, incoming: IncomingMessage) => void
}

export type Sockets = {
  /** Accepts an upgrade that passed the access check. Throws the refusal if there is no such socket. */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer, session: Session | null): void
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

/** Serves WebSockets. When a session ends, its sockets close. */
export function createSockets(options: {
  readonly routes: readonly SocketRoute[]
  readonly sessions: Pick<Sessions, 'onEnded'>
  readonly newId: () => string
  readonly log: Log
  /** Called with any fault of the service itself that the opening of a socket ran into. */
  readonly onFault: (error: unknown) => void
}): Sockets {
  const { sessions, newId, log, onFault } = options
  const servers = new Map(options.routes.map((route) => [route.path, { route, server: serverFor(route) }]))

  function serverFor({ maxMessageBytes }: SocketRoute): WebSocketServer {
    const server = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, ...LIMITS })
    // Every response carries a request id, the handshake included.
    server.on('headers', (headers) => headers.push(`x-request-id: ${newId()}`))
    server.on('wsClientError', (_error, socket) => writeRefusal(socket, MALFORMED, newId()))
    return server
  }

  function start(socket: WebSocket, route: SocketRoute, incoming: IncomingMessage, session: Session | null) {
    const stopPinging = keepAlive(socket)
    const unsubscribe =
      session === null ? undefined : sessions.onEnded(session.id, () => endWithSession(socket))
    socket.on('error', (error) => log.debug({ err: error, path: route.path }, 'A socket failed'))
    socket.once('close', () => {
      stopPinging()
      unsubscribe?.()
    })
    try {
      route.onOpen(socket, incoming)
    } catch (error) {
      log.error({ err: error, path: route.path }, 'A socket could not be served')
      onFault(error)
      socket.close(INTERNAL_ERROR, 'Reconnect.')
    }
  }

  const everySocket = () => [...servers.values()].flatMap(({ server }) => [...server.clients])
  return {
    upgrade(incoming, socket, head, session) {
      const found = servers.get(pathOf(incoming))
      if (!found) throw new Refusal(404, 'not_found', 'There is nothing at this address.')
      // No route has a subprotocol.
      delete incoming.headers['sec-websocket-protocol']
      found.server.handleUpgrade(incoming, socket, head, (opened) =>
        start(opened, found.route, incoming, session),
      )
    },
    close() {
      for (const socket of everySocket()) socket.close(GOING_AWAY, 'The service is stopping.')
    },
    terminate() {
      for (const socket of everySocket()) socket.terminate()
    },
  }
}

const MALFORMED = new Refusal(400, 'malformed_request', 'This is not a WebSocket handshake.')

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
