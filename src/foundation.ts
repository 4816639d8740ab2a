import { existsSync } from 'node:fs'
import { createIds } from '../ledger/ids.ts'
import { recordImport } from '../ledger/imported.ts'
import type { ViewsTables } from '../projections/tables.ts'
import type { Config } from './config.ts'
import { type ErasingQueryFunctions, erasingQueries } from './erasing/index.ts'
import { type OutboundPauses, outboundPauses } from './lib/backoff.ts'
import type { Log } from './lib/log.ts'
import type { LogLines } from './lib/log-lines.ts'
import { createMask } from './lib/mask.ts'
import { type MemoryQueryFunctions, memoryQueries } from './memory/index.ts'
import { createModelHolder, type ModelLimits, type ModelSettings } from './model/service.ts'
import { createReactorWatch, type ReactorName } from './operations/readiness/reactor-watch.ts'
import { openOwnerState } from './settings/open.ts'
import type { Settings } from './settings/settings.ts'
import type { ThreadFailed } from './storage/function-thread.ts'
import { tightenModes } from './storage/modes.ts'
import { openQueries } from './storage/queries.ts'
import { openStorage } from './storage/storage.ts'
import { type TimelineQueryFunctions, timelineQueries } from './timeline/index.ts'

/** Limits in milliseconds. Each default stands where it is used. */
export type ServiceWaits = {
  /** How long after the start recall is warmed up. */
  readonly warmUpMs?: number
  /** How long running work may continue once the service is asked to stop. */
  readonly workGraceMs?: number
  /** How long the telephony provider may take to answer a request. */
  readonly providerRequestMs?: number
  /** How long a call's socket may take to present its token. */
  readonly streamStartMs?: number
  /** How often to look for interactions that have gone idle. */
  readonly idleLookMs?: number
  /** How long a task's program may take to end when it is asked to. */
  readonly taskKillGraceMs?: number
  /** How long an announcement that failed waits for its next attempt. */
  readonly announceRetryMs?: number
  /** How long rendering a note may take. */
  readonly renderNoteMs?: number
}

export type ServiceOptions = {
  readonly config: Config
  readonly log: Log
  readonly logLines: LogLines
  readonly nowMs: () => number
  readonly random: () => number
  /** Overrides the limits of a request to the model service. */
  readonly modelLimits?: ModelLimits | undefined
  /** Overrides the pauses between retries of outbound work. */
  readonly outboundPauses?: OutboundPauses | undefined
  /** Overrides how long the service waits for others. */
  readonly waits?: ServiceWaits | undefined
  /** Receives the settings once they are open, so that the log can mask secrets. */
  readonly onSettings: (settings: Settings) => void
  /** Facts can no longer be acknowledged, so the process must end. */
  readonly onFatal: (error: Error) => void
}

/** Opens what every part needs: the data directory, its settings, and the model that they name. */
export async function layFoundation(options: ServiceOptions) {
  const { config, log, nowMs } = options
  const directory = config.dataDir
  const newId = createIds(nowMs)
  const onThreadFailure = (failure: ThreadFailed) => log.error({ err: failure }, 'a thread was terminated')
  const warn = (message: string, fields: object) => log.warn(fields, message)

  const modes = existsSync(directory) ? tightenModes(directory) : null
  if (modes && modes.tightened.length > 0)
    warn('Files in DATA_DIR were readable by other accounts. They no longer are.', {
      tightened: modes.tightened.length,
    })
  if (modes && modes.refused.length > 0)
    warn(
      'Files in DATA_DIR are readable by other accounts, and this account may not change that. ' +
        'As root, chown -R them to the account of the service, then restart it.',
      { files: modes.refused },
    )

  const opening = openStorage({
    directory,
    nowMs,
    newId,
    traceEvents: config.ledgerDebug,
    onWarning: warn,
    onProgress: (projection, seq, headSeq) => log.debug({ projection, seq, headSeq }, 'catching up'),
    onVerified: (verification) => {
      if (verification.status === 'sound') log.info({ ...verification.head }, 'ledger verified: no damage')
      else log.error({ ...verification }, 'ledger verification failed')
    },
    onFatal: options.onFatal,
  })
  // Loaded while the storage thread starts.
  const [storage, { Kysely, SqliteDialect }] = await Promise.all([opening, import('kysely')])
  const { append, ledger, views } = storage
  await recordImport(ledger, append)
  const owner = openOwnerState({
    directory,
    environment: config.settings,
    append,
    hasFact: (key) => ledger.rowByKey(key) !== undefined,
    nowMs,
    newId,
    onWarning: warn,
  })
  const { settings } = owner
  settings.bindStoredSecrets()
  options.onSettings(settings)
  const models = createModelHolder(modelSettings(settings), { limits: options.modelLimits ?? {} })
  settings.subscribe(() => models.configure(modelSettings(settings)))
  const reactors = createReactorWatch({ nowMs })

  return {
    config,
    directory,
    log,
    logLines: options.logLines,
    nowMs,
    random: options.random,
    newId,
    storage,
    /** The views, for dynamic queries. */
    kysely: new Kysely<ViewsTables>({ dialect: new SqliteDialect({ database: views }) }),
    queries: openQueries<MemoryQueryFunctions & ErasingQueryFunctions & TimelineQueryFunctions>(
      directory,
      [memoryQueries, erasingQueries, timelineQueries],
      { onFailure: onThreadFailure },
    ),
    /** Logs a call whose thread was terminated. */
    onThreadFailure,
    owner,
    settings,
    mask: createMask(() => settings.secretValues()),
    timezone: () => settings.get('TIMEZONE'),
    /** The current model service. */
    model: models.current,
    answering: models.answering,
    pauses: options.outboundPauses ?? outboundPauses,
    waits: options.waits ?? {},
    /** The state of all reactors. */
    reactors,
    /** Returns a function that logs a reactor's failures and reports them to readiness and storage. */
    faultsOf(name: ReactorName, message = 'a reactor failed') {
      const failed = reactors.failuresOf(name)
      return (error: unknown) => {
        log.error({ err: error, reactor: name }, message)
        failed(error)
        storage.reportFault(error)
      }
    },
  }
}

export type Foundation = Awaited<ReturnType<typeof layFoundation>>

/** Only values that were set: the defaults are for OpenAI's own API. */
function modelSettings(settings: Settings): ModelSettings {
  const given = settings
    .entries()
    .filter((entry) => entry.source === 'stored' || entry.source === 'environment')
  const values: Partial<Record<string, string>> = {}
  for (const { key } of given) {
    const value = settings.get(key)
    if (value !== null) values[key] = String(value)
  }
  return values
}
