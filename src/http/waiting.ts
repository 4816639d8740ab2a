import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { languageOf } from '../language/languages.ts'
import { english } from '../language/message.ts'
import { inLanguage, translated } from '../language/msg.ts'
import { scrapeStandby } from '../metrics/index.ts'
import type { EngineStatus, OpeningProgress } from '../storage/messages.ts'
import { PROBLEM_TYPE } from './contract/problem.ts'
import { pathOf } from './server/env.ts'
import { listen } from './server/http-server.ts'
import { createMonitorCheck } from './server/monitor.ts'
import { problemOf, Refusal } from './server/problem.ts'
import { securityHeaders } from './server/security-headers.ts'
import { inLanguageOf, isShellFile, loadWebApp, type StaticFiles } from './server/static-files.ts'

const PAGE_FILE = '/waiting.html'
const LOOK_AGAIN_S = '2'
/** A start that takes no longer than this opens no second server. */
const INSTANT_MS = 500

const STEPS: Record<OpeningProgress['step'], string> = {
  backup: english`Delegate makes a backup before an upgrade.`,
  views: english`Delegate rebuilds its views of the ledger.`,
}

/** Why the service does not answer yet: `code` and `detail` for everyone, `members` for `/ready`. */
type State = {
  readonly code: 'standby' | 'upgrading'
  readonly detail: string
  readonly members: Readonly<Record<string, unknown>>
}

/**
 * Answers until the service does: that it is alive, that it is not ready (a proxy routes by that), and to a browser
 * a page that waits. A monitor learns how a standby follows; strangers learn no name and no address. Begins to listen
 * once there is something to show; `failed` rejects if it cannot.
 */
export function createWaitingServer(options: {
  readonly port: number
  readonly host: string
  readonly newId: () => string
  /** Null if only this machine may read the metrics. */
  readonly metricsToken: string | null
  readonly onListening: (port: number, code: State['code']) => void
}) {
  const isMonitor = createMonitorCheck(options.metricsToken)
  const failure = Promise.withResolvers<never>()
  let engine: EngineStatus | null = null
  let state: State = { code: 'upgrading', detail: '', members: {} }
  let files: StaticFiles = new Map()
  let opened: Promise<void> | null = null
  let timer: NodeJS.Timeout | undefined
  const respond = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const path = pathOf(incoming)
    if (path === '/metrics' && isMonitor(incoming)) return void sendMetrics(outgoing)
    if (path === '/health') return send(outgoing, 200, 'application/json', '{"status":"ok"}')
    const file = files.get(path)
    if (file && !isShellFile(path) && !path.startsWith('/waiting.'))
      return send(outgoing, 200, file.type, file.content)
    const page = inLanguageOf(files, PAGE_FILE)
    const wantsPage = path !== '/ready' && (incoming.headers.accept ?? '').includes('text/html')
    if (page && wantsPage) return send(outgoing, 503, page.type, page.content)
    const { code, members } = state
    const detail = translated(state.detail)
    if (path === '/ready' && code === 'upgrading')
      return send(outgoing, 503, 'application/json', JSON.stringify({ status: code, detail, ...members }))
    send(
      outgoing,
      503,
      PROBLEM_TYPE,
      JSON.stringify(problemOf(new Refusal(503, code, detail, { extra: members }))),
    )
  }
  const server = createServer((incoming, outgoing) =>
    inLanguage(languageOf('browser', incoming.headers['accept-language']), () => respond(incoming, outgoing)),
  )

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

  async function listening(): Promise<void> {
    files = await loadWebApp()
    options.onListening(await listen(server, options.port, options.host), state.code)
  }

  function open(): void {
    if (opened !== null) return
    opened = listening()
    opened.catch(failure.reject)
  }

  return {
    /** Shows the state of a standby. */
    showStandby(current: EngineStatus): void {
      engine = current
      const { fault, lag } = current
      const detail = fault
        ? english`This machine cannot follow PostgreSQL at the moment. Its log says why.`
        : english`This machine is a standby. It takes over if the other one stops.`
      state = {
        code: 'standby',
        detail,
        members: { role: 'standby', lag, ...(fault && { fault: 'postgres' }) },
      }
      open()
    },
    /** Shows how far an upgrade is. */
    showOpening({ step, done, total }: OpeningProgress): void {
      state = { code: 'upgrading', detail: STEPS[step], members: { step, done, total } }
      timer ??= setTimeout(open, INSTANT_MS)
    },
    failed: failure.promise,
    /** Frees the port. */
    async close(): Promise<void> {
      clearTimeout(timer)
      if (opened === null) return
      await opened
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
