import { loadConfig } from '../../src/config.ts'
import { readBuild } from '../../src/http/server/build-info.ts'
import { createLog } from '../../src/lib/log.ts'
import { type Service, startService } from '../../src/service.ts'

/** A benchmark uses more in minutes than an owner does in a day. */
export const UNLIMITED = { DAILY_TOKENS: 'unlimited', DAILY_TEXTS: 'unlimited', DAILY_CALLS: 'unlimited' }

/** The whole service in this process. Prints only errors from its log. */
export async function startBenchService(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Service> {
  const config = loadConfig({
    ...UNLIMITED,
    PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'error',
    ...environment,
  })
  const { log, lines } = createLog({
    level: 'error',
    write: (line) => process.stderr.write(line),
    secretValues: () => [],
  })
  return startService({
    config,
    ...(await readBuild()),
    log,
    logLines: lines,
    nowMs: Date.now,
    random: Math.random,
    onSettings: () => undefined,
    onFatal: (error) => {
      throw error
    },
  })
}
