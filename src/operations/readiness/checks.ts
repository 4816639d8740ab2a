import { diskRemedies } from '../../../ledger/causes.ts'
import type { StorageStatus } from '../../storage/storage.ts'
import type { ReactorState } from './reactor-watch.ts'
import { type StoreReport, VIEWS_DAMAGED } from './stores.ts'

export type Check = { readonly ok: boolean; readonly detail?: string }

/** The outcome of the last use of an outside service. */
export type LastOutcome = { readonly at: string; readonly failure: string | null }

const MEGABYTE = 1024 * 1024
/** Enough for days of conversation and a backup. */
const LOW_BYTES = 200 * MEGABYTE
/** Enough for a commit, a checkpoint and their views. */
const NEEDED_BYTES = 4 * MEGABYTE

const failed = (detail: string): Check => ({ ok: false, detail })

export const checkOf = (fault: string | null): Check => (fault === null ? { ok: true } : failed(fault))

/** `status` is null if the storage does not respond. */
export function ledgerCheck(stores: StoreReport, status: StorageStatus | null): Check {
  const { freeBytes } = stores
  if (status === null) return failed('The storage does not respond.')
  const { ledgerError, verification } = status
  if (ledgerError !== null) return failed(ledgerError)
  if (verification.status === 'damaged')
    return failed(`Event ${verification.seq ?? 'unknown'} is damaged. ${diskRemedies.damaged}`)
  if (stores.ledger !== null) return failed(stores.ledger)
  return freeBytes !== null && freeBytes < NEEDED_BYTES ? failed(diskRemedies.full) : { ok: true }
}

export function projectionsCheck(stores: StoreReport, status: StorageStatus | null): Check {
  if (status === null) return failed('The storage does not respond.')
  const { viewsError, viewsCause, damage } = status
  if (viewsCause === 'damaged') return failed(VIEWS_DAMAGED)
  if (damage !== null) return failed(`A read found damage. The files are being checked. (${damage})`)
  if (viewsError !== null) {
    const remedy = viewsCause === null ? 'cannot be written:' : diskRemedies[viewsCause]
    return failed(`${remedy} (${viewsError})`)
  }
  const stalled = status.projections.filter(({ error }) => error !== null)
  if (stalled.length > 0) return failed(`stalled: ${stalled.map(({ name }) => name).join(', ')}`)
  return checkOf(stores.views)
}

/** Undefined if the ledger is kept here only. */
export function postgresCheck(status: StorageStatus | null): Check | undefined {
  if (!status?.engine) return undefined
  const { mode, node, epoch, lag, behindSince, fault } = status.engine
  const reason = fault?.replace(/^PostgreSQL/, 'it')
  if (mode === 'commit')
    return reason === undefined
      ? { ok: true, detail: `PostgreSQL commits each event. ${node} may write, under epoch ${epoch}.` }
      : failed(`PostgreSQL cannot confirm that ${node} may write, under epoch ${epoch}: ${reason}.`)
  if (reason === undefined)
    return { ok: true, detail: lag === 0 ? IS_COPIED : `PostgreSQL is about to get ${eventsText(lag ?? 0)}.` }
  if (lag === null) return failed(`It is not known what PostgreSQL lacks: ${reason}.`)
  return failed(`PostgreSQL lacks ${eventsText(lag)} since ${behindSince}: ${reason}.`)
}

const IS_COPIED = 'The copy in PostgreSQL is up to date.'
const eventsText = (count: number) => (count === 1 ? '1 event' : `${count} events`)

export function reactorsCheck(reactors: readonly ReactorState[], isLearningStalled: boolean): Check {
  // Learning retries only after minutes, so it reports its own stalls.
  const failing = reactors.filter(
    ({ name, state }) => state !== 'ok' || (name === 'learning' && isLearningStalled),
  )
  return failing.length === 0 ? { ok: true } : failed(failing.map(sentenceOf).join('; '))
}

function sentenceOf({ name, waiting, since, lastFailure }: ReactorState): string {
  const backlog = since === null ? '' : ` ${waiting} waiting since ${since}`
  const failure = lastFailure === null ? '' : ` last failure at ${lastFailure.at}: ${lastFailure.message}`
  return `${name}:${[backlog, failure].filter((part) => part !== '').join(',')}`
}

export function textCheck(last: LastOutcome | null): Check {
  if (last === null) return { ok: true }
  if (last.failure === null) return { ok: true, detail: `The last text was sent at ${last.at}.` }
  return failed(`The last text failed at ${last.at}: ${last.failure.replaceAll('_', ' ')}.`)
}

export function diskCheck(freeBytes: number | null): Check {
  if (freeBytes === null) return { ok: true }
  const megabytes = Math.round(freeBytes / MEGABYTE)
  const size = megabytes < 10_000 ? `${megabytes} MB` : `${Math.round(megabytes / 1024)} GB`
  return { ok: freeBytes >= LOW_BYTES, detail: `${size} free` }
}
