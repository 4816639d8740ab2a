import { createServer, type ServerResponse } from 'node:http'
import { scrapeStandby } from '../metrics/index.ts'
import type { EngineStatus } from '../storage/messages.ts'
import { PROBLEM_TYPE } from './contract/problem.ts'
import { pathOf } from './server/env.ts'
import { listen } from './server/http-server.ts'
import { createMonitorCheck } from './server/monitor.ts'
import { problemOf, Refusal } from './server/problem.ts'
import { securityHeaders } from './server/security-headers.ts'
import { loadWebApp, SHELL_FILE, type StaticFiles } from './server/static-files.ts'

export type StandbyServer = ReturnType<typeof createStandbyServer>

const PAGE_FILE = '/standby.html'
const LOOK_AGAIN_S = '2'

/**
 * What a standby answers: that it is alive, that it is not ready (a proxy routes by that), and to a browser a
 * page that waits. A monitor learns how it follows; strangers learn no name and no address. `show` begins to listen;
 * `failed` rejects if it cannot.
 */
export function createStandbyServer(options: {
  readonly port: number
  readonly host: string
  readonly newId: () => string
  /** Null if only this machine may read the metrics. */
  readonly metricsToken: string | null
  readonly onListening: (port: number) => void
}) {
  const isMonitor = createMonitorCheck(options.metricsToken)
  let engine: EngineStatus | null = null
  let files: StaticFiles = new Map()
  let opened: Promise<void> | null = null
  const failure = Promise.withResolvers<never>()
  const server = createServer((incoming, outgoing) => {
    const path = pathOf(incoming)
    if (path === '/metrics' && isMonitor(incoming)) return void sendMetrics(outgoing)
    if (path === '/health') return send(outgoing, 200, 'application/json', '{"status":"ok"}')
    const file = files.get(path)
    if (file && path !== SHELL_FILE && path !== PAGE_FILE) return send(outgoing, 200, file.type, file.content)
    const page = files.get(PAGE_FILE)
    const wantsPage = path !== '/ready' && (incoming.headers.accept ?? '').includes('text/html')
    if (page && wantsPage) return send(outgoing, 503, page.type, page.content)
    const fault = engine?.fault ? { fault: 'postgres' } : {}
    const extra = { role: 'standby', lag: engine?.lag ?? null, ...fault }
    const refusal = new Refusal(503, 'standby', sentence(), { extra })
    send(outgoing, 503, PROBLEM_TYPE, JSON.stringify(problemOf(refusal)))
  })

  function send(outgoing: ServerResponse, status: number, type: string, body: string | Uint8Array): void {
    outgoing.writeHead(status, {
      ...securityHeaders(options.newId(), false),
      ...(status === 503 ? { 'retry-after': LOOK_AGAIN_S } : {}),
      'content-type': type,
      connection: 'close',
    })
    outgoing.end(body)
  }

  async function sendMetrics(outgoing: ServerResponse): Promise<void> {
    const { text, contentType } = await scrapeStandby(engine)
    send(outgoing, 200, contentType, text)
  }

  function sentence(): string {
    if (engine?.fault) return 'This machine cannot follow PostgreSQL at the moment. Its log says why.'
    return 'This machine is a standby. It takes over if the other one stops.'
  }

  async function open(): Promise<void> {
    files = await loadWebApp()
    options.onListening(await listen(server, options.port, options.host))
  }

  return {
    /** Shows the state of the standby, and begins to listen. */
    show(current: EngineStatus): void {
      engine = current
      if (opened !== null) return
      opened = open()
      opened.catch(failure.reject)
    },
    failed: failure.promise,
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
