import { onTestFinished } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import type { ServiceOptions } from '../../src/foundation.ts'
import { createLog } from '../../src/log.ts'
import { startService } from '../../src/service.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { type Client, createClient } from '../http/client.ts'
import { testDirectory } from './directory.ts'

export const PASSWORD = 'a long walk by the river'

/** What fails is tried again at once: for tests of what becomes of it, not of how long it waits. */
export const SHORT_PAUSES = { firstRetryMs: 20, lookUpAfterMs: [0, 20, 80] } as const

export type WholeServiceOptions = {
  readonly directory?: string
  /** As the process would be given them: settings and process variables. */
  readonly environment?: Readonly<Record<string, string>>
  readonly nowMs?: () => number
  readonly installed?: boolean
  readonly modelLimits?: ServiceOptions['modelLimits']
  readonly outboundPauses?: ServiceOptions['outboundPauses']
}

/** The whole service, as `npm start` runs it, on a port of its own and signed in. Ends with the test. */
export async function startWholeService(options: WholeServiceOptions = {}) {
  const directory = options.directory ?? testDirectory()
  const written: string[] = []
  const config = loadConfig({ DATA_DIR: directory, PORT: '0', LOG_LEVEL: 'debug', ...options.environment })
  let settings: Settings | null = null
  const { log, lines } = createLog({
    level: config.logLevel,
    write: (line) => void written.push(line),
    secretValues: () => settings?.secretValues() ?? [],
    aboveId: Date.now(),
  })
  const service = await startService({
    config,
    log,
    logLines: lines,
    nowMs: options.nowMs ?? Date.now,
    random: Math.random,
    modelLimits: options.modelLimits,
    outboundPauses: options.outboundPauses,
    onSettings: (opened) => {
      settings = opened
    },
    onFatal: (error) => {
      throw error
    },
  })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= service.close()
    return stopped
  }
  onTestFinished(stop)
  const client: Client = createClient(service.port)
  if (options.installed !== false) await enter(client, service.setupCode)
  return {
    port: service.port,
    origin: `http://127.0.0.1:${service.port}`,
    directory,
    client,
    /** Null where it was installed before. */
    setupCode: service.setupCode,
    log,
    written,
    stop,
  }
}

export type WholeService = Awaited<ReturnType<typeof startWholeService>>

/** Installs the service, or signs in where it is installed already. */
async function enter(client: Client, setupCode: string | null): Promise<void> {
  if (setupCode !== null) {
    const installed = await client.post('/api/install', { password: PASSWORD, setupCode })
    if (installed.status !== 201) throw new Error(`installing failed: ${installed.text}`)
    return
  }
  const signedIn = await client.post('/login', { password: PASSWORD })
  if (signedIn.status !== 200) throw new Error(`signing in failed: ${signedIn.text}`)
}
