import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import type { Language } from '../../language/languages.ts'
import { english } from '../../language/message.ts'
import { inLanguage, msg } from '../../language/msg.ts'
import type { Log } from '../../lib/log.ts'
import { PROBLEM_TYPE } from '../contract/problem.ts'
import type { IdentifyCaller } from './caller.ts'
import { pathOf } from './env.ts'
import { problemOf, Refusal } from './problem.ts'
import { writeRefusal } from './raw-refusal.ts'
import { securityHeaders } from './security-headers.ts'
import type { Sockets } from './sockets.ts'

/** Limits on how long a client may take, and on how much it may send before the body. */
export const DEFAULT_SERVER_LIMITS = {
  /** From connecting, or from the last response, to the end of the headers. */
  headersTimeoutMs: 8_000,
  /** For the whole request, including its body. */
  requestTimeoutMs: 12_000,
  keepAliveTimeoutMs: 10_000,
  /** How often the timeouts are checked, so each may be exceeded by that much. */
  checkEveryMs: 1_000,
  maxHeaderBytes: 16_384,
  maxHeaders: 100,
}

const MALFORMED = new Refusal(400, 'malformed_request', english`The request is malformed.`)

export type ServerLimits = typeof DEFAULT_SERVER_LIMITS

export function createHttpServer(options: {
  /** Handles requests; see `createApp`. */
  readonly fetch: Parameters<typeof getRequestListener>[0]
  readonly sockets: Sockets
  readonly identifyCaller: IdentifyCaller
  readonly newId: () => string
  readonly log: Log
  readonly languageOfRequest: (incoming: IncomingMessage) => Language
  readonly limits?: ServerLimits
}) {
  const {
    fetch,
    sockets,
    identifyCaller,
    newId,
    log,
    languageOfRequest,
    limits = DEFAULT_SERVER_LIMITS,
  } = options
  const listener = getRequestListener(fetch, {
    errorHandler: () => problemResponse(MALFORMED),
  })
  const server = createServer(
    {
      connectionsCheckingInterval: limits.checkEveryMs,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      maxHeaderSize: limits.maxHeaderBytes,
      // Some clients offer HTTP/2 (`h2c`) with every request. Ignore the offer and answer over HTTP/1.1.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
      // Makes two Hosts visible.
      joinDuplicateHeaders: true,
      // A missing Host is still refused, but not by Node, whose response lacks the common headers.
      requireHostHeader: false,
    },
    (incoming, outgoing) => void handle(incoming, outgoing),
  )
  // Node silently drops headers beyond this count. Allowing one more makes the excess visible.
  server.maxHeadersCount = limits.maxHeaders + 1

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const startedMs = performance.now()
    const requestId = newId()
    if (incoming.rawHeaders.length / 2 > limits.maxHeaders) {
      const refusal = new Refusal(431, 'too_many_headers', msg`The request has too many headers.`)
      writeRefusal(incoming.socket, refusal, requestId)
      return
    }
    // A proxy may have used the other one of two Hosts (RFC 9112, 3.2).
    if (incoming.headers.host?.includes(',')) {
      writeRefusal(incoming.socket, MALFORMED, requestId)
      return
    }
    // HTTP/1.0 needs no Host, and load balancers ask for their health checks that way.
    const isCheck = incoming.url === '/health' || incoming.url === '/ready'
    if (isCheck && incoming.httpVersion === '1.0') incoming.headers.host ??= 'localhost'
    const { isHttps } = identifyCaller(incoming)
    for (const [name, value] of Object.entries(securityHeaders(requestId, isHttps))) {
      if (value !== undefined) outgoing.setHeader(name, value)
    }
    if (log.isLevelEnabled('debug')) {
      outgoing.once('close', () => {
        const { method } = incoming
        const durationMs = Math.round(performance.now() - startedMs)
        log.debug(
          { requestId, method, path: pathOf(incoming), status: outgoing.statusCode, durationMs },
          'Request',
        )
      })
    }
    await inLanguage(languageOfRequest(incoming), () => listener(incoming, outgoing))
  }

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    writeRefusal(socket, refusalOfClientError(error), newId())
  })
  // Replaces Node's own response, which lacks the common headers.
  server.on('checkExpectation', (incoming: IncomingMessage) => {
    const refusal = new Refusal(417, 'expectation_failed', msg`The Expect header is not supported.`)
    writeRefusal(incoming.socket, refusal, newId())
  })
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) =>
    inLanguage(languageOfRequest(incoming), () => sockets.upgrade(incoming, socket, head)),
  )

  return {
    /** Resolves to the port; port 0 lets the system choose. Rejects if the port is not available. */
    listen: (port: number, host: string) => listen(server, port, host),
    /** Accepts no new connections, lets running requests finish for at most `graceMs`, then closes the rest. */
    async close(graceMs: number): Promise<void> {
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

/** Resolves to the port that the server listens on. */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening')
  // The address is an object, because the server listens on a port and not on a pipe.
  return (server.address() as AddressInfo).port
}

function refusalOfClientError(error: NodeJS.ErrnoException): Refusal {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Refusal(431, 'headers_too_large', msg`The headers of the request are too large.`)
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Refusal(408, 'request_timeout', msg`The request timed out.`)
    default:
      return MALFORMED
  }
}

function problemResponse(refusal: Refusal): Response {
  return new Response(JSON.stringify(problemOf(refusal)), {
    status: refusal.status,
    headers: { 'content-type': PROBLEM_TYPE, connection: 'close' },
  })
}
