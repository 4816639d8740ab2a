import { describeDisk } from '../ledger/causes.ts'
import { LedgerDamaged, LedgerLocked } from '../ledger/errors.ts'
import { ConfigError, loadConfig } from './config.ts'
import { readBuild } from './http/server/build-info.ts'
import { asCalled } from './lib/as-called.ts'
import { createLog } from './lib/log.ts'
import { type Service, startService } from './service.ts'
import { SettingsUnusable } from './settings/errors.ts'
import type { Settings } from './settings/settings.ts'

/** Handles process start and signals; the service does everything else. */
async function main(): Promise<void> {
  // Files in the data directory, including those that SQLite creates, are private to their owner.
  process.umask(0o077)
  // A full disk or a closed pipe loses log lines. It must not end the service.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  const config = loadConfig()
  dataDir = config.dataDir
  let settings: Settings | null = null
  const { log, lines } = createLog({
    level: config.logLevel,
    write: (line) => process.stdout.write(line),
    secretValues: () => [
      ...(settings?.secretValues() ?? []),
      ...(config.postgres ? [config.postgres.url] : []),
      ...(config.metricsToken === null ? [] : [config.metricsToken]),
    ],
    aboveId: Date.now(),
  })
  const die = (error: unknown, message: string) => {
    log.fatal({ err: error }, message)
    process.exit(1)
  }
  process.on('uncaughtException', (error) => die(error, 'unexpected error'))

  const service = await startService({
    config,
    ...(await readBuild()),
    log,
    logLines: lines,
    nowMs: Date.now,
    random: Math.random,
    onSettings: (opened) => {
      settings = opened
    },
    onFatal(error) {
      if (error.name === 'EpochMoved') {
        log.fatal({ reason: error.message }, 'another machine has taken over')
        process.exit(EXIT_TAKEN_OVER)
      }
      die(error, 'the storage thread died')
    },
  })
  // npm forwards signals that the terminal and systemd also send directly, so each may arrive twice.
  let isStopping = false
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.on(name, () => {
      if (!isStopping) void stop(service, name)
      isStopping = true
    })
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${service.port}`
  if (service.setupCode !== null) {
    // Browsers cannot open a wildcard address.
    const link = `${url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')}/install#${service.setupCode}`
    log.info({ url: link, setupCode: service.setupCode }, 'not set up yet: open the link')
    // For people at a terminal, in addition to the JSON line.
    process.stderr.write(`\nSet up your delegate: ${link}\n\n`)
  }
  log.info({ url, dataDir: config.dataDir, head: service.head() }, 'listening')

  async function stop(running: Service, signal: string): Promise<void> {
    log.info({ signal }, 'stopping')
    const deadline = setTimeout(
      () => die(new Error('running work did not end in time'), 'stopped by force'),
      STOP_MS,
    )
    deadline.unref()
    await running.close()
    log.info('stopped')
    process.exit(0)
  }
}

const STOP_MS = 15_000
/** A supervisor starts the process again, as a standby. EX_TEMPFAIL of sysexits.h. */
const EXIT_TAKEN_OVER = 75
let dataDir: string | undefined

main().catch((error: unknown) => {
  process.stderr.write(`${asCalled(describe(error))}\n`)
  process.exit(error instanceof Error && error.name === 'EpochMoved' ? EXIT_TAKEN_OVER : 1)
})

/** One sentence for errors that the operator can fix, the stack for bugs. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const syscall = 'syscall' in error ? error.syscall : null
  if (syscall === 'listen' || syscall === 'getaddrinfo')
    return `The service cannot listen on HOST and PORT: ${error.message}`
  const isExpected =
    error instanceof ConfigError ||
    error instanceof LedgerDamaged ||
    error instanceof LedgerLocked ||
    error instanceof SettingsUnusable ||
    // From the storage thread, which does not pass the class on.
    error.name === 'EngineRefused' ||
    error.name === 'UpgradeRefused' ||
    error.name === 'EpochMoved' ||
    error.name === 'Unreachable'
  if (isExpected) return error.message
  // Only errors of PostgreSQL have a severity. Theirs is a phrase.
  if ('severity' in error) {
    const lacksPrivilege = 'code' in error && error.code === '42501'
    const remedy = lacksPrivilege ? ' npm run engine:init prints what the account needs.' : ''
    return `PostgreSQL refused this: ${error.message}.${remedy}`
  }
  const disk = describeDisk(error, dataDir)
  if (disk !== null) return `DATA_DIR cannot be used. ${disk}`
  // Errors from the storage thread lose their class.
  const isDiskError = syscall !== null || ('code' in error && /^SQLITE_/.test(String(error.code)))
  return isDiskError ? `DATA_DIR cannot be used: ${error.message}` : (error.stack ?? error.message)
}
