import { diskRemedies } from '../../../ledger/causes.ts'
import { english } from '../../language/message.ts'
import { msg, translated, translatedSentence } from '../../language/msg.ts'
import { asCalled } from '../../lib/as-called.ts'
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

const failed = (detail: string): Check => ({ ok: false, detail: asCalled(detail) })

export function checkOf(fault: string | null): Check {
  return fault === null ? { ok: true } : failed(translatedSentence(fault))
}

/** `status` is null if the storage does not respond. */
export function ledgerCheck(
  stores: StoreReport,
  status: Pick<StorageStatus, 'ledgerError' | 'verification'> | null,
): Check {
  const { freeBytes } = stores
  if (status === null) return failed(msg`The storage does not respond.`)
  const { ledgerError, verification } = status
  if (ledgerError !== null) return checkOf(ledgerError)
  if (verification.status === 'damaged') {
    const remedy = translated(diskRemedies.damaged)
    return failed(
      verification.seq === null ? remedy : `${msg`Event ${verification.seq} is damaged.`} ${remedy}`,
    )
  }
  if (stores.ledger !== null) return checkOf(stores.ledger)
  return freeBytes !== null && freeBytes < NEEDED_BYTES ? failed(translated(diskRemedies.full)) : { ok: true }
}

export function projectionsCheck(stores: StoreReport, status: StorageStatus | null): Check {
  if (status === null) return failed(msg`The storage does not respond.`)
  const { viewsError, viewsCause, damage } = status
  if (viewsCause === 'damaged') return failed(translated(VIEWS_DAMAGED))
  if (damage !== null) return failed(msg`A read found damage. The files are being checked. (${damage})`)
  if (viewsError !== null) {
    const remedy = viewsCause === null ? msg`cannot be written:` : translated(diskRemedies[viewsCause])
    return failed(`${remedy} (${viewsError})`)
  }
  const stalled = status.projections.filter(({ error }) => error !== null)
  if (stalled.length > 0) return failed(msg`stalled: ${stalled.map(({ name }) => name).join(', ')}`)
  return checkOf(stores.views)
}

/** Undefined if the ledger is kept here only. */
export function postgresCheck(status: StorageStatus | null): Check | undefined {
  if (!status?.engine) return undefined
  const { mode, node, epoch, lag, behindSince, fault } = status.engine
  const reason = fault === null ? undefined : translatedSentence(fault)
  if (mode === 'commit')
    return reason === undefined
      ? { ok: true, detail: msg`PostgreSQL commits each event. ${node} may write, under epoch ${epoch}.` }
      : failed(msg`PostgreSQL cannot confirm that ${node} may write, under epoch ${epoch}: ${reason}.`)
  if (reason === undefined)
    return {
      ok: true,
      detail: lag === 0 ? translated(IS_COPIED) : msg`PostgreSQL is about to get ${eventsText(lag ?? 0)}.`,
    }
  if (lag === null) return failed(msg`It is not known what PostgreSQL lacks: ${reason}.`)
  return failed(msg`PostgreSQL lacks ${eventsText(lag)} since ${behindSince}: ${reason}.`)
}

const IS_COPIED = english`The copy in PostgreSQL is up to date.`
const eventsText = (count: number) => (count === 1 ? msg`1 event` : msg`${count} events`)

export function reactorsCheck(reactors: readonly ReactorState[], isLearningStalled: boolean): Check {
  // Learning retries only after minutes, so it reports its own stalls.
  const failing = reactors.filter(
    ({ name, state }) => state !== 'ok' || (name === 'learning' && isLearningStalled),
  )
  return failing.length === 0 ? { ok: true } : failed(failing.map(sentenceOf).join('; '))
}

function sentenceOf({ name, waiting, since, lastFailure }: ReactorState): string {
  const backlog = since === null ? '' : ` ${msg`${waiting} waiting since ${since}`}`
  const failure =
    lastFailure === null ? '' : ` ${msg`last failure at ${lastFailure.at}: ${lastFailure.message}`}`
  return `${translated(name)}:${[backlog, failure].filter((part) => part !== '').join(',')}`
}

export function textCheck(last: LastOutcome | null): Check {
  if (last === null) return { ok: true }
  if (last.failure === null) return { ok: true, detail: msg`The last text was sent at ${last.at}.` }
  return failed(msg`The last text failed at ${last.at}: ${translated(last.failure.replaceAll('_', ' '))}.`)
}

export function diskCheck(freeBytes: number | null): Check {
  if (freeBytes === null) return { ok: true }
  const megabytes = Math.round(freeBytes / MEGABYTE)
  const size = megabytes < 10_000 ? `${megabytes} MB` : `${Math.round(megabytes / 1024)} GB`
  return { ok: freeBytes >= LOW_BYTES, detail: msg`${size} free` }
}
