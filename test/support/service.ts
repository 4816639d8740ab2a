import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { readBuild } from '../../src/http/server/build-info.ts'
import { createLog } from '../../src/lib/log.ts'
import type { ServiceOptions } from '../../src/service.ts'
import { startService } from '../../src/service.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { type Client, createClient } from '../http/client.ts'
import { TEST_ROOT, testDirectory } from './directory.ts'

/** Runs git and reads two hundred files, so once in each worker, not for each service. */
const build = await readBuild()

export const PASSWORD = 'a long walk by the river'

/** Retries at once, for tests of the outcome rather than of the wait. */
export const SHORT_PAUSES = { firstRetryMs: 20, lookUpAfterMs: [0, 20, 80] } as const

export type WholeServiceOptions = {
  readonly directory?: string
  /** As the process would be given them: settings and process variables. */
  readonly environment?: Readonly<Record<string, string>>
  readonly nowMs?: () => number
  readonly installed?: boolean
  readonly modelLimits?: ServiceOptions['modelLimits']
  readonly outboundPauses?: ServiceOptions['outboundPauses']
  readonly waits?: ServiceOptions['waits']
  readonly pushConnect?: ServiceOptions['pushConnect']
}

/** The whole service, as `npm start` runs it, on a port of its own and signed in. Ends with the test. */
export async function startWholeService(options: WholeServiceOptions = {}) {
  const directory = options.directory ?? testDirectory()
  // A test with a clock of its own installs the service itself, so that no fact is older than that clock.
  const isCopied =
    options.installed !== false && options.nowMs === undefined && readdirSync(directory).length === 0
  const copied = isCopied ? await copyInstalled(directory) : undefined
  // A new directory has nothing to recall, so the first turn may start the query thread.
  const waits = isCopied ? { warmUpMs: 60_000, ...options.waits } : options.waits
  const running = await run(directory, { ...options, waits })
  onTestFinished(running.stop)
  const { client, setupCode } = running
  if (copied !== undefined) client.useCookie(copied)
  else if (options.installed !== false) await enter(client, setupCode)
  return running
}

async function run(directory: string, options: WholeServiceOptions) {
  const written: string[] = []
  const loaded = loadConfig({
    DATA_DIR: directory,
    PORT: '0',
    LOG_LEVEL: 'debug',
    TASK_ISOLATION: 'none',
    ...options.environment,
  })
  const config = { ...loaded, backupWorkFactor: 10 }
  let settings: Settings | null = null
  const { log, lines } = createLog({
    level: config.logLevel,
    write: (line) => void written.push(line),
    secretValues: () => settings?.secretValues() ?? [],
    aboveId: Date.now(),
  })
  const service = await startService({
    config,
    ...build,
    log,
    logLines: lines,
    nowMs: options.nowMs ?? Date.now,
    random: Math.random,
    modelLimits: options.modelLimits,
    outboundPauses: options.outboundPauses,
    waits: options.waits,
    pushConnect: options.pushConnect,
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
  const client: Client = createClient(service.port)
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

export type WholeService = Awaited<ReturnType<typeof run>>

type Installed = { readonly directory: string; readonly cookie: string | undefined; readonly atMs: number }

let installed: Promise<Installed> | undefined

/** Younger than a proof of who is there may be, so that sensitive routes work as after a sign-in. */
const COPIED_FOR_MS = 120_000

/** Fills a directory as installing leaves it, and returns the owner's cookie. Hashing a password is slow by design. */
async function copyInstalled(directory: string): Promise<string | undefined> {
  if (installed !== undefined && Date.now() - (await installed).atMs > COPIED_FOR_MS) installed = undefined
  installed ??= install()
  const prepared = await installed
  cpSync(prepared.directory, directory, { recursive: true })
  return prepared.cookie
}

/** Installs a service, once in each worker and every two minutes. */
async function install(): Promise<Installed> {
  const directory = mkdtempSync(join(TEST_ROOT, 'delegate-installed-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const { client, setupCode, stop } = await run(directory, {})
  await enter(client, setupCode)
  await stop()
  return { directory, cookie: client.cookie(), atMs: Date.now() }
}

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
