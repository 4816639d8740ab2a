import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Log } from '../../lib/log.ts'
import type { Session, Sessions } from '../../settings/sessions.ts'
import type { AccessControl } from './access.ts'
import type { Caller, IdentifyCaller } from './caller.ts'
import type { IntrusionCounter } from './intrusion-counter.ts'
import { Refusal } from './problem.ts'
import { writeRefusal } from './raw-refusal.ts'
import { refuse } from './refuse.ts'

/** The request that opened a socket. */
export type SocketRequest = {
  readonly query: URLSearchParams
  /** Exactly as in the request line. */
  readonly pathAndQuery: string
  readonly headers: IncomingHttpHeaders
  readonly caller: Caller
  /** Null on public sockets. */
  readonly session: Session | null
}

/** A WebSocket endpoint. */
export type SocketRoute = {
  readonly path: string
  /** A larger message closes the connection with 1009. */
  readonly maxMessageBytes: number
  /** Needs no session; its clients authenticate by other means. */
  readonly isPublic: boolean
  readonly onOpen: (socket: WebSocket, request: SocketRequest) => void
}

export type Sockets = {
  /** Accepts or refuses an upgrade. */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Closes every open socket with 1001 (going away). */
  close(): void
  /** Terminates every open socket at once. */
  terminate(): void
}

/** RFC 6455, 7.4.1 */
const GOING_AWAY = 1001
const POLICY_VIOLATION = 1008
/**
 * Limits on the fragments of a message and on the chunks that its bytes arrive in. Each piece takes far more
 * memory than its content, and no browser or provider needs this many.
 */
const MAX_FRAGMENTS = 256
const MAX_BUFFERED_CHUNKS = 4_096
/** How long a peer may take to close its side when its session ends. */
const CLOSING_MS = 500
/** A dead peer is noticed after at most two of these. */
const PING_EVERY_MS = 30_000

/** Serves WebSockets under the rules of requests. When a session ends, its sockets close. */
export function createSockets(options: {
  readonly routes: readonly SocketRoute[]
  readonly access: AccessControl
  readonly identifyCaller: IdentifyCaller
  readonly sessions: Pick<Sessions, 'onEnded'>
  readonly intrusions: Pick<IntrusionCounter, 'count'>
  readonly newId: () => string
  readonly log: Log
}): Sockets {
  const { access, identifyCaller, sessions, intrusions, newId, log } = options
  const open = new Set<WebSocket>()
  const routes = new Map(options.routes.map((route) => [route.path, { route, server: createServer(route) }]))

  function createServer({ maxMessageBytes }: SocketRoute): WebSocketServer {
    const server = new WebSocketServer({
      noServer: true,
      maxPayload: maxMessageBytes,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_BUFFERED_CHUNKS,
    })
    // Every response carries a request id, the handshake included.
    server.on('headers', (headers) => headers.push(`x-request-id: ${newId()}`))
    server.on('wsClientError', (_error, socket) => refuseUpgrade(socket, malformed()))
    return server
  }

  function refuseUpgrade(socket: Duplex, refusal: Refusal): void {
    writeRefusal(socket, refusal, newId())
  }

  function start(socket: WebSocket, route: SocketRoute, request: SocketRequest): void {
    open.add(socket)
    const stopPinging = keepAlive(socket)
    const { session } = request
    const unsubscribe =
      session === null ? undefined : sessions.onEnded(session.id, () => endWithSession(socket))
    socket.on('error', (error) => log.debug({ err: error, path: route.path }, 'A socket failed'))
    socket.once('close', () => {
      open.delete(socket)
      stopPinging()
      unsubscribe?.()
    })
    route.onOpen(socket, request)
  }

  return {
    upgrade(incoming, socket, head) {
      socket.on('error', (error) => log.debug({ err: error }, 'A connection failed'))
      const url = URL.parse(incoming.url ?? '', 'http://service')
      const found = routes.get(url?.pathname ?? '')
      const caller = identifyCaller(incoming)
      const verdict = access.upgrade(incoming, caller, found?.route.isPublic ?? false)
      if (verdict.verdict === 'refused') return refuseUpgrade(socket, refuse(verdict.reason, intrusions))
      if (!found || !url) {
        return refuseUpgrade(socket, new Refusal(404, 'not_found', 'There is no WebSocket at this address.'))
      }
      const { route, server } = found
      server.handleUpgrade(incoming, socket, head, (webSocket) =>
        start(webSocket, route, {
          query: url.searchParams,
          pathAndQuery: incoming.url ?? '',
          headers: incoming.headers,
          caller,
          session: verdict.session,
        }),
      )
    },
    close() {
      for (const socket of [...open]) socket.close(GOING_AWAY, 'The service is stopping.')
    },
    terminate() {
      for (const socket of [...open]) socket.terminate()
    },
  }
}

function malformed(): Refusal {
  return new Refusal(400, 'malformed_request', 'This is not a WebSocket handshake.')
}

/** Closes a socket and ignores whatever the peer still sends. */
function endWithSession(socket: WebSocket): void {
  socket.removeAllListeners('message')
  socket.close(POLICY_VIOLATION, 'The session has ended.')
  setTimeout(() => socket.terminate(), CLOSING_MS).unref()
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
