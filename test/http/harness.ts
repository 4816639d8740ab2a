import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRoute, z } from '@hono/zod-openapi'
import { onTestFinished } from 'vitest'
import { createIds } from '../../ledger/ids.ts'
import { buildHalt } from '../../src/halt/index.ts'
import { body, json } from '../../src/http/contract/describe.ts'
import type { TestConnection } from '../../src/http/routes/settings.ts'
import type { Routes } from '../../src/http/server/env.ts'
import { createHttp } from '../../src/http/server/http.ts'
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from '../../src/http/server/http-server.ts'
import { createIntrusionCounter } from '../../src/http/server/intrusion-counter.ts'
import type { SocketRoute } from '../../src/http/server/sockets.ts'
import { loadStaticFiles } from '../../src/http/server/static-files.ts'
import { createLog } from '../../src/lib/log.ts'
import { createModelHolder } from '../../src/model/service.ts'
import type { Checks } from '../../src/operations/readiness/readiness.ts'
import { chosenSettings, openOwnerState } from '../../src/settings/index.ts'
import { parseSetting, type SettingKey } from '../../src/settings/registry.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { createClient } from './client.ts'

export const PASSWORD = 'a long walk by the river'

export type ServiceOptions = {
  readonly directory?: string
  readonly environment?: Partial<Record<SettingKey, string>>
  readonly nowMs?: () => number
  readonly monotonicMs?: () => number
  readonly limits?: Partial<ServerLimits>
  readonly webDirectory?: string
  readonly checks?: () => Checks
  /** `delegate.example` by default. */
  readonly allowedHosts?: readonly string[]
  readonly testConnection?: TestConnection
  readonly installed?: boolean
  /** How long running work may take at shutdown. */
  readonly closeGraceMs?: number
}

export const PASSED: Checks = {
  ledger: { ok: true },
  projections: { ok: true },
  reactors: { ok: true },
  settings: { ok: true },
  disk: { ok: true },
  model: { ok: true },
  backups: { ok: true },
}

/** The real HTTP layer and storage, with a few stand-in routes. Stops with the test. */
export async function startService(options: ServiceOptions = {}) {
  const directory = options.directory ?? newDirectory()
  const nowMs = options.nowMs ?? Date.now
  const newId = createIds(nowMs)
  const warnings: string[] = []
  const written: string[] = []
  const stopping = new AbortController()
  const { log, lines } = createLog({
    level: 'debug',
    write: (line) => void written.push(line),
    secretValues: () => ownerState?.settings.secretValues() ?? [],
  })
  const onWarning = (message: string, fields: Record<string, unknown>) => {
    warnings.push(message)
    log.warn(fields, message)
  }
  const storage = await openStorage({
    directory,
    nowMs,
    newId,
    onWarning,
    onFatal: (error) => {
      throw error
    },
  })
  let ownerState: ReturnType<typeof openOwnerState> | undefined
  ownerState = openOwnerState({
    directory,
    environment: parseEnvironment(options.environment ?? {}),
    append: storage.append,
    hasFact: (key) => storage.ledger.rowByKey(key) !== undefined,
    nowMs,
    newId,
    onWarning,
  })
  const intrusions = createIntrusionCounter({ append: storage.append, nowMs, log })
  const socketMessages: string[] = []
  const things: string[] = []
  const halt = buildHalt({ storage, directory, onFault: storage.reportFault })
  const { settings } = ownerState
  const models = createModelHolder(chosenSettings(settings))
  settings.subscribe(() => models.configure(chosenSettings(settings)))
  const http = createHttp({
    ...ownerState,
    halt,
    models,
    addRoutes: (routes) => thingRoutes(routes, things),
    socketRoutes: socketRoutes(socketMessages),
    intrusions,
    checkHealth: async () => ({
      checks: options.checks?.() ?? PASSED,
      reactors: [],
      freeBytes: null,
      lastText: null,
    }),
    checkSecurity: async () => [],
    testConnection: options.testConnection ?? (async () => ({ ok: true, steps: [] })),
    buildInfo: { name: 'delegate', version: '0.0.0', commit: null, builtAt: null, node: process.version },
    staticFiles: await loadStaticFiles(options.webDirectory ?? join(directory, 'no-web')),
    log,
    logLines: lines,
    onFault: storage.reportFault,
    stopping: stopping.signal,
    newId,
    allowedHosts: options.allowedHosts ?? ['delegate.example'],
    isMonitor: () => false,
    monotonicMs: options.monotonicMs ?? (() => performance.now()),
    limits: { ...DEFAULT_SERVER_LIMITS, checkEveryMs: 50, ...options.limits },
  })
  const port = await http.listen(0, '127.0.0.1')
  let stopped: Promise<void> | undefined

  async function stop(): Promise<void> {
    stopping.abort()
    await http.close(options.closeGraceMs ?? 200)
    await intrusions.close()
    ownerState?.close()
    await storage.close()
  }

  const service = {
    port,
    origin: `http://127.0.0.1:${port}`,
    directory,
    storage,
    ownerState,
    intrusions,
    log,
    warnings,
    /** The written log lines. */
    written,
    /** The inputs of the stand-in route. */
    things,
    /** The messages that the socket routes received. */
    socketMessages,
    client: createClient(port),
    /** Every fact's type, in order. */
    factTypes: () => storage.ledger.readAfter(0, 10_000).map(({ type }) => type),
    headSeq: () => storage.ledger.head().seq,
    stop() {
      stopped ??= stop()
      return stopped
    },
    /** Creates a signed-in client. */
    async signedIn() {
      const client = createClient(port)
      const answer = await client.post('/login', { password: PASSWORD })
      if (answer.status !== 200) throw new Error(`signing in failed: ${answer.text}`)
      return client
    },
  }
  onTestFinished(() => service.stop())
  if (options.installed !== false) {
    const answer = await service.client.post('/api/install', {
      password: PASSWORD,
      setupCode: ownerState.setupCode,
    })
    if (answer.status !== 201 && answer.status !== 409) throw new Error(`installing failed: ${answer.text}`)
  }
  return service
}

export type Service = Awaited<ReturnType<typeof startService>>

export function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'delegate-http-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

function parseEnvironment(environment: Partial<Record<SettingKey, string>>) {
  return new Map(
    Object.entries(environment).map(([key, text]) => {
      const parsed = parseSetting(key as SettingKey, text)
      if (!parsed.ok) throw new Error(`${key} ${parsed.message}`)
      return [key as SettingKey, parsed.value]
    }),
  )
}

/** An ordinary resource, the path of a signed webhook, and a route that fails. */
function thingRoutes(routes: Routes, things: string[]): void {
  const schema = z.object({ name: z.string().max(10_000_000) })
  routes.openapi(
    createRoute({
      method: 'post',
      path: '/api/things',
      request: { body: body(schema) },
      responses: { 201: json(schema, 'Made') },
    }),
    (c) => {
      const { name } = c.req.valid('json')
      things.push(name)
      return c.json({ name }, 201)
    },
  )
  routes.openapi(
    createRoute({
      method: 'post',
      path: '/_dev/walkie/voice',
      request: { body: body(schema) },
      responses: { 201: json(z.object({ chars: z.int() }), 'Made') },
    }),
    (c) => c.json({ chars: c.req.valid('json').name.length }, 201),
  )
  routes.openapi(
    createRoute({
      method: 'get',
      path: '/api/fault',
      responses: { 200: json(z.object({}), 'Never') },
    }),
    () => {
      throw new Error('the canary sank')
    },
  )
  routes.post('/sms', (c) => c.text('<Response/>', 200, { 'content-type': 'text/xml' }))
}

function socketRoutes(messages: string[]): SocketRoute[] {
  const onOpen: SocketRoute['onOpen'] = (socket, c) => {
    if (c.req.query('fault') !== undefined) throw new Error('the canary sank')
    socket.on('message', (data) => {
      messages.push(String(data))
      socket.send(`heard ${String(data)}`)
    })
  }
  return [
    { path: '/chat', maxMessageBytes: 2048, onOpen },
    { path: '/call', maxMessageBytes: 1024, onOpen },
  ]
}
