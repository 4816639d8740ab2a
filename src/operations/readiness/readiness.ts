import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { messageOf } from '../../../ledger/errors.ts'
import { createTextQueries } from '../../../projections/texts.ts'
import { createTurnQueries } from '../../../projections/turns.ts'
import { english } from '../../language/message.ts'
import { msg, translatedSentence } from '../../language/msg.ts'
import type { Log } from '../../lib/log.ts'
import { resultWithin } from '../../lib/waits.ts'
import { isModelFailure } from '../../model/failure-text.ts'
import type { ModelId } from '../../model/port.ts'
import { secretKeyFile } from '../../settings/secrets.ts'
import type { Settings } from '../../settings/settings.ts'
import { WITHOUT_PASSWORD } from '../../settings/store.ts'
import { openFunctionThread, ThreadFailed } from '../../storage/function-thread.ts'
import type { Storage, StorageStatus } from '../../storage/storage.ts'
import { createBacklogs } from './backlogs.ts'
import {
  type Check,
  checkOf,
  diskCheck,
  type LastOutcome,
  ledgerCheck,
  postgresCheck,
  projectionsCheck,
  reactorsCheck,
  textCheck,
} from './checks.ts'
import type { ReactorState, ReactorWatch } from './reactor-watch.ts'
import type { StoreFunctions } from './store-thread.ts'
import { placesOf, type StoreReport } from './stores.ts'

/** `postgres`, `secrets`, `disk`, `model`, `backups` and `telephony` are informational; the others decide whether the service is ready. */
export type Checks = Readonly<
  Record<'ledger' | 'projections' | 'reactors' | 'settings' | 'disk' | 'model' | 'backups', Check>
> & {
  /** Absent if the ledger is kept here only. */
  readonly postgres?: Check
  /** Absent unless secrets cannot be read. The rest works without them, and the owner must be able to sign in. */
  readonly secrets?: Check
  /** Absent while telephony is not configured. */
  readonly telephony?: Check
}

export type Health = {
  readonly checks: Checks
  readonly reactors: readonly ReactorState[]
  readonly freeBytes: number | null
  readonly lastText: LastOutcome | null
  /** The last verification of the whole ledger; absent until the first one has ended. */
  readonly verified?: { readonly at: string; readonly outcome: 'sound' | 'damaged' | 'failed' }
}

export type ReadinessSources = {
  readonly directory: string
  readonly isStopping: () => boolean
  readonly isLearningStalled: () => boolean
  /** The model in use. */
  readonly answering: () => ModelId
  readonly hasTelephony: () => boolean
  /** Whether the service is installed, but has no password. */
  readonly lacksPassword: () => boolean
  /** Of the backups that the service makes. */
  readonly backups: () => Check
}

/** How long the state of the stores is cached. */
const FRESH_MS = 1000
/** Pause before a hung disk is checked again, because each try may cost a thread. */
const HUNG_MS = 30_000
/** Thousands of times what a check takes on an idle machine. */
const STORES_LIMIT_MS = 10_000
/** Keeps the thread for a monitor that asks often, but not between the service's own checks. */
const STORES_IDLE_MS = 15_000
const LOOK_EVERY_MS = 60_000

/**
 * Checks the stores in a separate thread, the reactors, and the last outcomes of the outside services. Logs
 * when a check begins or ceases to fail.
 */
export function createReadiness(
  options: ReadinessSources & {
    readonly storage: Storage
    readonly settings: Settings
    readonly reactors: ReactorWatch
    readonly isHalted: () => boolean
    readonly nowMs: () => number
    readonly log: Log
  },
) {
  const { directory, storage, settings, reactors, log } = options
  const { views } = storage
  const { lastEnded } = createTurnQueries(views)
  const { lastOutcome } = createTextQueries(views)
  const places = placesOf(directory)
  const thread = openFunctionThread<StoreFunctions>(
    new URL('./store-thread.ts', import.meta.url),
    directory,
    { limitMs: STORES_LIMIT_MS, idleMs: STORES_IDLE_MS },
  )
  let hadKey = existsSync(secretKeyFile(directory))
  let last: { readonly untilMs: number; readonly stores: Promise<StoreReport> } | null = null
  let failing = new Set<string>()
  reactors.start(createBacklogs({ ...options, ...storage, taskLimit: () => settings.get('TASK_LIMIT') }))

  function readStores(): Promise<StoreReport> {
    if (last && performance.now() < last.untilMs) return last.stores
    hadKey ||= existsSync(secretKeyFile(directory))
    const keepFor = (ms: number) => {
      last = { untilMs: performance.now() + ms, stores }
    }
    const stores = thread.ask('checkStores', { directory, places, hadKey }).then(
      (report) => {
        keepFor(FRESH_MS)
        return report
      },
      (error: unknown): StoreReport => {
        keepFor(HUNG_MS)
        const isHung = error instanceof ThreadFailed && error.reason === 'timed_out'
        const fault = isHung
          ? english`The disk does not respond. Find out what keeps it busy, or replace it.`
          : english`The files could not be checked: ${messageOf(error).split('\n', 1).join('')}`
        return { ledger: fault, views: fault, settings: fault, freeBytes: null, locked: null }
      },
    )
    keepFor(Number.POSITIVE_INFINITY)
    return stores
  }

  /** Null if the storage thread has ended or hangs. */
  const storageStatus = (): Promise<StorageStatus | null> =>
    resultWithin(
      STORES_LIMIT_MS,
      storage.status().catch(() => null),
    )

  function modelCheck(): Check {
    const { provider, model } = options.answering()
    const turn = whereReadable(lastEnded)
    const failure = turn?.status === 'failed' && isModelFailure(turn.kind) ? turn.kind : null
    const name = `${provider}/${model}`
    return failure === null
      ? { ok: true, detail: name }
      : { ok: false, detail: msg`${name}: the last turn failed (${failure})` }
  }

  async function look(): Promise<Health> {
    const [stores, status] = await Promise.all([readStores(), storageStatus()])
    const states = reactors.report().map(inLanguage)
    const postgres = postgresCheck(status)
    const hasTelephony = options.hasTelephony()
    const text = hasTelephony ? whereReadable(lastOutcome) : undefined
    const lastText = text ? { at: text.at, failure: text.kind } : null
    return {
      checks: {
        ledger: ledgerCheck(stores, status),
        ...(postgres && { postgres }),
        projections: projectionsCheck(stores, status),
        reactors: options.isStopping()
          ? { ok: false, detail: 'stopping' }
          : reactorsCheck(states, options.isLearningStalled()),
        settings: checkOf(
          stores.settings ?? (whereReadable(options.lacksPassword) ? WITHOUT_PASSWORD : null),
        ),
        ...(stores.locked !== null && { secrets: checkOf(stores.locked) }),
        disk: diskCheck(stores.freeBytes),
        model: modelCheck(),
        backups: whereReadable(options.backups) ?? { ok: true },
        ...(hasTelephony ? { telephony: textCheck(lastText) } : {}),
      },
      reactors: states,
      freeBytes: stores.freeBytes,
      lastText,
      ...verifiedOf(status),
    }
  }

  function logChanges({ checks }: Health): void {
    const now = Object.entries(checks).filter(([, { ok }]) => !ok)
    for (const [check, { detail }] of now)
      if (!failing.has(check)) log.warn({ check, detail }, 'a check failed')
    for (const check of failing)
      if (!now.some(([name]) => name === check)) log.info({ check }, 'a check passes again')
    failing = new Set(now.map(([name]) => name))
  }

  /** The state, at most one second old. */
  async function check(): Promise<Health> {
    const health = await look()
    logChanges(health)
    return health
  }

  const timer = setInterval(() => {
    check().catch((error: unknown) => log.warn({ err: error }, 'could not check readiness'))
  }, LOOK_EVERY_MS).unref()
  return {
    check,
    async close(): Promise<void> {
      reactors.close()
      clearInterval(timer)
      await thread.close()
    },
  }
}

/** The message of a failure is English, as it was thrown. */
const inLanguage = ({ lastFailure, ...state }: ReactorState): ReactorState => ({
  ...state,
  lastFailure: lastFailure && { ...lastFailure, message: translatedSentence(lastFailure.message) },
})

function verifiedOf(status: StorageStatus | null): Pick<Health, 'verified'> {
  const verification = status?.verification
  if (!verification || verification.status === 'running') return {}
  return { verified: { at: verification.at, outcome: verification.status } }
}

/** Undefined if the views cannot be read, which another check reports. */
function whereReadable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Database.SqliteError) return undefined
    throw error
  }
}
