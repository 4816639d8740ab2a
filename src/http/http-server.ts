import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import type { Log } from '../log.ts'
import type { IdentifyCaller } from './caller.ts'
import { PROBLEM_TYPE, problemOf, Refusal } from './problem.ts'
import { writeRefusal } from './raw-refusal.ts'
import { securityHeaders } from './security-headers.ts'
import type { Sockets } from './sockets.ts'

/** How long a client may take, and how much it may send before its body. */
export type ServerLimits = {
  /** From the connection or the last answer to the end of the headers. */
  readonly headersTimeoutMs: number
  /** To the end of the body. */
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  /** How often the two above are looked at, so each may be exceeded by that much. */
  readonly checkEveryMs: number
  readonly maxHeaderBytes: number
  readonly maxHeaders: number
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: 8_000,
  requestTimeoutMs: 12_000,
  keepAliveTimeoutMs: 10_000,
  checkEveryMs: 1_000,
  maxHeaderBytes: 16_384,
  maxHeaders: 100,
}

export type HttpServer = {
  /** Port 0 lets the system choose. Resolves to the port; rejects where it cannot be had. */
  listen(port: number, host: string): Promise<number>
  /**
   * Takes no new connections, lets running requests finish for at most `graceMs`, then ends what is left.
   */
  close(graceMs: number): Promise<void>
}

export function createHttpServer(options: {
  /** Answers requests; `createApp` makes it. */
  readonly fetch: Parameters<typeof getRequestListener>[0]
  readonly sockets: Sockets
  readonly identifyCaller: IdentifyCaller
  readonly newId: () => string
  readonly log: Log
  readonly limits?: ServerLimits
}): HttpServer {
  const { fetch, sockets, identifyCaller, newId, log, limits = DEFAULT_SERVER_LIMITS } = options
  const listener = getRequestListener(fetch, {
    errorHandler: () => problemResponse(new Refusal(400, 'malformed_request', 'The request is malformed.')),
  })
  const server = createServer(
    {
      connectionsCheckingInterval: limits.checkEveryMs,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      maxHeaderSize: limits.maxHeaderBytes,
      // Programs offer HTTP/2 with every request (`h2c`); an offer that is not taken up is answered as if there were none.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
      // Refused all the same, but not by Node, whose refusal has no headers.
      requireHostHeader: false,
    },
    (incoming, outgoing) => void handle(incoming, outgoing),
  )
  // Node drops what exceeds this in silence; one more than allowed is enough to see it.
  server.maxHeadersCount = limits.maxHeaders + 1

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const startedMs = performance.now()
    const requestId = newId()
    const { isHttps } = identifyCaller(incoming)
    for (const [name, value] of Object.entries(securityHeaders(requestId, isHttps))) {
      if (value !== undefined) outgoing.setHeader(name, value)
    }
    if (log.isLevelEnabled('debug')) {
      outgoing.once('close', () => {
        const { method, url = '' } = incoming
        const durationMs = Math.round(performance.now() - startedMs)
        const path = url.replace(/\?.*$/s, '')
        log.debug({ requestId, method, path, status: outgoing.statusCode, durationMs }, 'Request')
      })
    }
    if (incoming.rawHeaders.length / 2 > limits.maxHeaders) {
      const refusal = new Refusal(431, 'too_many_headers', 'The request has too many headers.')
      outgoing.writeHead(refusal.status, { 'content-type': PROBLEM_TYPE, connection: 'close' })
      outgoing.end(JSON.stringify(problemOf(refusal)))
      return
    }
    if (namesTwoHosts(incoming)) {
      outgoing.writeHead(TWO_HOSTS.status, { 'content-type': PROBLEM_TYPE, connection: 'close' })
      outgoing.end(JSON.stringify(problemOf(TWO_HOSTS)))
      return
    }
    await listener(incoming, outgoing)
  }

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    writeRefusal(socket, refusalOfClientError(error), newId())
  })
  // Node's own answer to it has no headers either.
  server.on('checkExpectation', (incoming: IncomingMessage) => {
    const refusal = new Refusal(417, 'expectation_failed', 'The service meets no such expectation.')
    writeRefusal(incoming.socket, refusal, newId())
  })
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (namesTwoHosts(incoming)) return writeRefusal(socket, TWO_HOSTS, newId())
    sockets.upgrade(incoming, socket, head)
  })

  return {
    listen: (port, host) => listen(server, port, host),
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      sockets.close()
      const timer = setTimeout(() => {
        sockets.terminate()
        server.closeAllConnections()
      }, graceMs)
      await closed
      clearTimeout(timer)
    },
  }
}

/** A proxy in front may have looked at the other one (RFC 9112, 3.2). */
const TWO_HOSTS = new Refusal(400, 'malformed_request', 'The request has more than one Host.')

/** Of several, Node shows the first and says nothing of the others. */
function namesTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      // An address object: the server listens on a port, not on a pipe.
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function refusalOfClientError(error: NodeJS.ErrnoException): Refusal {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Refusal(431, 'headers_too_large', 'The headers of the request are too large.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Refusal(408, 'request_timeout', 'The request came too slowly.')
    default:
      return new Refusal(400, 'malformed_request', 'The request is malformed.')
  }
}

function problemResponse(refusal: Refusal): Response {
  return new Response(JSON.stringify(problemOf(refusal)), {
    status: refusal.status,
    headers: { 'content-type': PROBLEM_TYPE },
  })
}
