import { createServer, type OutgoingHttpHeaders, type ServerResponse } from 'node:http'
import type { EngineStatus } from '../storage/messages.ts'
import { listen } from './server/http-server.ts'
import { problemOf, Refusal } from './server/problem.ts'
import { securityHeaders } from './server/security-headers.ts'

export type StandbyServer = ReturnType<typeof createStandbyServer>

const LOOK_AGAIN_S = 2

/**
 * What a standby answers: that it is alive, that it is not ready (a proxy routes by that), and to a browser a
 * page that waits. `show` begins to listen.
 */
export function createStandbyServer(options: {
  readonly port: number
  readonly host: string
  readonly newId: () => string
  readonly onListening: (port: number) => void
}) {
  let engine: EngineStatus | null = null
  let opened: Promise<void> | null = null
  const server = createServer((incoming, outgoing) => {
    const { pathname } = new URL(incoming.url ?? '/', 'http://standby')
    if (pathname === '/health') return send(outgoing, 200, 'application/json', '{"status":"ok"}')
    const wantsPage = pathname !== '/ready' && (incoming.headers.accept ?? '').includes('text/html')
    if (wantsPage) return send(outgoing, 503, 'text/html; charset=utf-8', page())
    const { node, holder, lag, fault } = engine ?? { node: '', holder: null, lag: 0, fault: null }
    const extra = { role: 'standby', node, holder, lag, ...(fault === null ? {} : { fault: 'postgres' }) }
    const refusal = new Refusal(503, 'standby', sentence(), { extra })
    send(outgoing, 503, 'application/problem+json', JSON.stringify(problemOf(refusal)))
  })

  function send(outgoing: ServerResponse, status: number, type: string, body: string): void {
    const again: OutgoingHttpHeaders =
      status === 503 ? { 'retry-after': `${LOOK_AGAIN_S}`, refresh: `${LOOK_AGAIN_S}` } : {}
    const headers = securityHeaders(options.newId(), false)
    outgoing.writeHead(status, { ...headers, ...again, 'content-type': type, connection: 'close' })
    outgoing.end(body)
  }

  function sentence(): string {
    if (engine?.fault) return 'This machine waits for PostgreSQL, which does not answer.'
    return 'This machine is a standby. It takes over if the other one stops.'
  }

  const page = () => `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>Delegate is waiting</title>
  <h1>Delegate is waiting</h1>
  <p>${sentence()}</p>
  <p>This page looks again every ${LOOK_AGAIN_S} seconds.</p>
</html>
`

  return {
    /** Shows the state of the standby, and begins to listen. */
    show(current: EngineStatus): void {
      engine = current
      opened ??= listen(server, options.port, options.host).then(options.onListening)
    },
    /** Frees the port. */
    async close(): Promise<void> {
      if (opened === null) return
      await opened
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
