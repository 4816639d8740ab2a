import { loadConfig } from '../../src/config.ts'
import { readBuild } from '../../src/http/server/build-info.ts'
import { createLog } from '../../src/lib/log.ts'
import { startService } from '../../src/service.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { type Client, createClient } from '../http/client.ts'

export type Started = {
  readonly port: number
  readonly origin: string
  readonly client: Client
  /** Null if it is installed already. */
  readonly setupCode: string | null
  stop(): Promise<void>
}

/** Starts the real service over a data directory, inside or outside a test. */
export async function startOver(options: {
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  readonly nowMs: () => number
  readonly random: () => number
}): Promise<Started> {
  const config = loadConfig({
    DATA_DIR: options.directory,
    PORT: '0',
    TASK_ISOLATION: 'none',
    ...options.environment,
  })
  let settings: Settings | null = null
  const { log, lines } = createLog({
    level: 'info',
    write: () => undefined,
    secretValues: () => settings?.secretValues() ?? [],
    aboveId: 0,
  })
  const service = await startService({
    config,
    ...(await readBuild()),
    log,
    logLines: lines,
    nowMs: options.nowMs,
    random: options.random,
    outboundPauses: { firstRetryMs: 20, lookUpAfterMs: [0, 20, 80] },
    onSettings: (opened) => {
      settings = opened
    },
    onFatal: (error) => {
      throw error
    },
  })
  let stopped: Promise<void> | undefined
  return {
    port: service.port,
    origin: `http://127.0.0.1:${service.port}`,
    client: createClient(service.port),
    setupCode: service.setupCode,
    stop() {
      stopped ??= service.close()
      return stopped
    },
  }
}
