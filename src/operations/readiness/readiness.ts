import { existsSync } from 'node:fs'
import { diskRemedies } from '../../../ledger/causes.ts'
import { messageOf } from '../../../ledger/errors.ts'
import type { ProjectionStatus } from '../../../projections/projector.ts'
import { secretKeyFile } from '../../settings/secrets.ts'
import { openFunctionThread, ThreadFailed } from '../../storage/function-thread.ts'
import type { StorageStatus } from '../../storage/storage.ts'
import type { Verification } from '../../storage/verification.ts'
import type { ReactorState } from './reactor-watch.ts'
import { placesOf, type StoreReport, type storeFunctions, VIEWS_DAMAGED } from './store-functions.ts'

export type Check = { readonly ok: boolean; readonly detail?: string }

/** `disk`, `model` and `telephony` are informational; the others decide whether the service is ready. */
export type Checks = {
  readonly ledger: Check
  readonly projections: Check
  readonly reactors: Check
  readonly settings: Check
  readonly disk: Check
  readonly model: Check
  /** Absent while telephony is not configured. */
  readonly telephony?: Check
}

/** The outcome of the last use of an outside service. */
export type LastOutcome = { readonly at: string; readonly failure: string | null }

export type Health = {
  readonly checks: Checks
  readonly reactors: readonly ReactorState[]
  readonly freeBytes: number | null
  readonly lastText: LastOutcome | null
}

export type Readiness = {
  /** The state, at most one second old. */
  check(): Promise<Health>
  close(): Promise<void>
}

export type ReadinessOptions = {
  readonly directory: string
  readonly storageStatus: () => Promise<StorageStatus>
  readonly reactors: () => readonly ReactorState[]
  readonly isStopping: () => boolean
  readonly isLearningStalled: () => boolean
  /** The configured model, and why its last turn failed, if it did. */
  readonly model: () => { readonly name: string; readonly failure: string | null }
  /** The last text; undefined while telephony is not configured. */
  readonly lastText: () => LastOutcome | null | undefined
  readonly log: { warn(fields: object, message: string): void; info(fields: object, message: string): void }
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
const MEGABYTE = 1024 * 1024
/** Enough for days of conversation and a backup. */
const LOW_BYTES = 200 * MEGABYTE
/** Enough for a commit, a checkpoint and their views. */
const NEEDED_BYTES = 4 * MEGABYTE

/** Checks the stores in a separate thread, and the reactors. Logs when a check begins or ceases to fail. */
export function createReadiness(options: ReadinessOptions): Readiness {
  const { directory, log } = options
  const places = placesOf(directory)
  const thread = openFunctionThread<typeof storeFunctions>(
    new URL('./store-thread.ts', import.meta.url),
    directory,
    { limitMs: STORES_LIMIT_MS, idleMs: STORES_IDLE_MS },
  )
  let hasSecrets = false
  let last: { readonly untilMs: number; readonly stores: Promise<StoreReport> } | null = null
  let failing = new Set<string>()

  function readStores(): Promise<StoreReport> {
    const nowMs = performance.now()
    if (last && nowMs < last.untilMs) return last.stores
    hasSecrets ||= existsSync(secretKeyFile(directory))
    const stores = thread
      .ask('checkStores', { directory, places, hasSecrets })
      .catch((error: unknown): StoreReport => {
        last = { untilMs: performance.now() + HUNG_MS, stores }
        const isHung = error instanceof ThreadFailed && error.reason === 'timed_out'
        const fault = isHung
          ? 'The disk does not respond. Find out what keeps it busy, or replace it.'
          : `The files could not be checked: ${messageOf(error).split('\n', 1).join('')}`
        return { ledger: fault, views: fault, settings: fault, freeBytes: null }
      })
    last = { untilMs: Number.POSITIVE_INFINITY, stores }
    void stores.then(() => {
      if (last?.untilMs === Number.POSITIVE_INFINITY) last = { untilMs: performance.now() + FRESH_MS, stores }
    })
    return stores
  }

  /** Null if the storage thread has ended or hangs. */
  async function storageStatus(): Promise<StorageStatus | null> {
    const timeout = Promise.withResolvers<null>()
    const timer = setTimeout(() => timeout.resolve(null), STORES_LIMIT_MS)
    try {
      return await Promise.race([options.storageStatus().catch(() => null), timeout.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  async function look(): Promise<Health> {
    const [stores, status] = await Promise.all([readStores(), storageStatus()])
    const reactors = options.reactors()
    const { name, failure } = options.model()
    const lastText = options.lastText()
    const { freeBytes } = stores
    return {
      checks: {
        ledger: ledgerCheck(stores, status),
        projections: projectionsCheck(stores, status),
        reactors: reactorsCheck(options, reactors),
        settings: checkOf(stores.settings),
        disk:
          freeBytes === null
            ? { ok: true }
            : { ok: freeBytes >= LOW_BYTES, detail: `${sizeOf(freeBytes)} free` },
        model: {
          ok: failure === null,
          detail: failure === null ? name : `${name}: the last turn failed (${failure})`,
        },
        ...(lastText === undefined ? {} : { telephony: textCheck(lastText) }),
      },
      reactors,
      freeBytes,
      lastText: lastText ?? null,
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
    async close() {
      clearInterval(timer)
      await thread.close()
    },
  }
}

const checkOf = (fault: string | null): Check =>
  fault === null ? { ok: true } : { ok: false, detail: fault }

function ledgerCheck(stores: StoreReport, status: StorageStatus | null): Check {
  const { freeBytes } = stores
  if (status === null) return { ok: false, detail: 'The storage does not respond.' }
  const { ledgerError, verification } = status
  if (ledgerError !== null) return { ok: false, detail: ledgerError }
  if (verification.status === 'damaged') return { ok: false, detail: damageOf(verification) }
  if (stores.ledger !== null) return checkOf(stores.ledger)
  if (freeBytes !== null && freeBytes < NEEDED_BYTES) return { ok: false, detail: diskRemedies.full }
  return { ok: true }
}

function damageOf({ seq }: Extract<Verification, { status: 'damaged' }>): string {
  return `Event ${seq ?? 'unknown'} is damaged. ${diskRemedies.damaged}`
}

function projectionsCheck(stores: StoreReport, status: StorageStatus | null): Check {
  if (status === null) return { ok: false, detail: 'The storage does not respond.' }
  const { viewsError, viewsCause, damage } = status
  if (viewsCause === 'damaged') return { ok: false, detail: VIEWS_DAMAGED }
  if (damage !== null)
    return { ok: false, detail: `A read found damage. The files are being checked. (${damage})` }
  if (viewsError !== null) {
    const remedy = viewsCause === null ? 'cannot be written:' : diskRemedies[viewsCause]
    return { ok: false, detail: `${remedy} (${viewsError})` }
  }
  const stalled = status.projections.filter(({ error }: ProjectionStatus) => error !== null)
  if (stalled.length > 0)
    return { ok: false, detail: `stalled: ${stalled.map(({ name }) => name).join(', ')}` }
  return checkOf(stores.views)
}

function reactorsCheck(options: ReadinessOptions, reactors: readonly ReactorState[]): Check {
  if (options.isStopping()) return { ok: false, detail: 'stopping' }
  // Learning retries only after minutes, so it reports its own stalls.
  const failing = reactors.filter(
    ({ name, state }) => state !== 'ok' || (name === 'learning' && options.isLearningStalled()),
  )
  return failing.length === 0 ? { ok: true } : { ok: false, detail: failing.map(sentenceOf).join('; ') }
}

function sentenceOf({ name, waiting, since, lastFailure }: ReactorState): string {
  const backlog = since === null ? '' : ` ${waiting} waiting since ${since}`
  const failure = lastFailure === null ? '' : ` last failure at ${lastFailure.at}: ${lastFailure.message}`
  return `${name}:${[backlog, failure].filter((part) => part !== '').join(',')}`
}

function textCheck(last: LastOutcome | null): Check {
  if (last === null) return { ok: true }
  if (last.failure === null) return { ok: true, detail: `The last text was sent at ${last.at}.` }
  return { ok: false, detail: `The last text failed at ${last.at}: ${last.failure.replaceAll('_', ' ')}.` }
}

function sizeOf(bytes: number): string {
  const megabytes = Math.round(bytes / MEGABYTE)
  return megabytes < 10_000 ? `${megabytes} MB` : `${Math.round(megabytes / 1024)} GB`
}
