import type { Database } from 'better-sqlite3'
import { type Draft, type EventRow, eventOfDraft, newSalt, parseRow, toDraft } from '../../ledger/codec.ts'
import type { ErasureReason } from '../../ledger/erasure.ts'
import {
  InvalidEvent,
  isDamage,
  LedgerDamaged,
  LedgerLocked,
  LedgerUnavailable,
  messageOf,
} from '../../ledger/errors.ts'
import type { Append, Appended, NewEvent } from '../../ledger/event.ts'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { follow, type SubscribeHead } from '../../ledger/follow.ts'
import { type AnyEvent, createReader, type LedgerReader } from '../../ledger/reader.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { areasOf, createHeadListeners } from './head-listeners.ts'
import type {
  AppendAnswer,
  Place,
  StorageMessage,
  StorageRequest,
  StorageThreadData,
  Unavailable,
  ViewsStatus,
} from './messages.ts'
import { veilLedger } from './veil.ts'
import { startVerification, type Verification } from './verification.ts'

export type { ErasureReason } from '../../ledger/erasure.ts'

import { startThread } from '../lib/start-thread.ts'

export type StorageStatus = ViewsStatus & {
  /** Damage that a read found, until both files are examined and damaged views rebuilt; else null. */
  readonly damage: string | null
  readonly verification: Verification
}

/** The service's only access to the ledger and the views. */
export type Storage = {
  readonly append: Append
  /** For point reads and pages; use the query thread to search. Hidden events read as erased. */
  readonly ledger: LedgerReader
  /** Includes hidden events; only for erasing. */
  readonly wholeLedger: LedgerReader
  readonly views: Database
  readonly onHeadMoved: SubscribeHead
  follow(fromSeq: number, signal: AbortSignal): AsyncGenerator<AnyEvent>
  /**
   * Erases the bodies of events for good. Resolves to the seqs that had a body, once no byte of them is left
   * in any file. Rejects with LedgerUnavailable if that is not confirmed yet; a recorded erasure then
   * continues by itself.
   */
  erase(seqs: readonly number[], reason: ErasureReason): Promise<readonly number[]>
  /** Resolves when the search indexes have every fact that is durable at the time of the call. */
  catchUpLagging(): Promise<void>
  /**
   * Takes any error of a request or a reactor. If SQLite found a damaged file, both files are examined in a
   * separate thread: damaged views are rebuilt in place, and a damaged ledger shows in `verification`.
   */
  reportFault(error: unknown): void
  status(): Promise<StorageStatus>
  close(): Promise<void>
}

export type StorageOptions = {
  readonly directory: string
  readonly nowMs: () => number
  readonly newId: () => string
  readonly traceEvents?: boolean
  /** Delay from the start to the verification of the whole chain. */
  readonly verifyAfterMs?: number
  readonly onVerified?: (verification: Verification) => void
  readonly onWarning: (message: string, fields: Record<string, unknown>) => void
  readonly onProgress?: (projection: string, seq: number, headSeq: number) => void
  /** The storage thread died, so nothing can be acknowledged any more and the process must end. */
  readonly onFatal: (error: Error) => void
}

/** The service's own start is over by then. */
const VERIFY_AFTER_MS = 5000

/** Opens a data directory and catches up the views. Rejects with LedgerDamaged or LedgerLocked. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const data: StorageThreadData = { directory: options.directory, traceEvents: options.traceEvents ?? false }
  const worker = startThread(new URL('./thread.ts', import.meta.url), data)
  const listeners = createHeadListeners()
  const appends = new Map<number, { drafts: readonly Draft[]; settle: PromiseWithResolvers<Appended> }>()
  const requests = new Map<number, PromiseWithResolvers<StorageMessage>>()
  let lastRequest = 0
  let isOpen = false
  let closing = false
  let closed: Promise<void> | undefined
  const ready = Promise.withResolvers<void>()

  worker.on('message', (message: StorageMessage) => {
    switch (message.kind) {
      case 'ready':
        return ready.resolve()
      case 'refused':
        closing = true
        return ready.reject(
          message.name === 'LedgerLocked'
            ? new LedgerLocked(message.message)
            : new LedgerDamaged(message.message, { seq: message.seq }),
        )
      case 'warning':
        return options.onWarning(message.message, message.fields)
      case 'progress':
        return options.onProgress?.(message.projection, message.seq, message.headSeq)
      case 'appended':
        return listeners.notify(
          areasOf(message.answers.flatMap(({ id, answer }) => settleAppend(id, answer))),
        )
      case 'views-moved':
        return listeners.notify(null)
      default:
        requests.get(message.id)?.resolve(message)
        requests.delete(message.id)
        if (message.kind === 'erased' || message.kind === 'remade') listeners.notify(null)
    }
  })
  worker.on('error', fail)
  worker.on('exit', () => {
    if (!closing) fail(new Error('the storage thread ended'))
  })

  function fail(error: unknown): void {
    const cause = error instanceof Error ? error : new Error(String(error))
    const unavailable = new LedgerUnavailable('the storage thread failed', { cause })
    ready.reject(cause)
    for (const { settle } of appends.values()) settle.reject(unavailable)
    for (const request of requests.values()) request.reject(unavailable)
    appends.clear()
    requests.clear()
    // Until the storage is open, the rejection of `openStorage` reports the failure.
    if (isOpen && !closing) options.onFatal(cause)
    closing = true
  }

  /** Settles the append's promise. Returns the drafts that are new in the ledger. */
  function settleAppend(id: number, answer: AppendAnswer): readonly Draft[] {
    const pending = appends.get(id)
    appends.delete(id)
    if (!pending) return []
    const { drafts, settle } = pending
    if (answer.status === 'appended') {
      const events = answer.places.flatMap((place, index) => {
        const draft = drafts[index]
        return draft ? [eventOfDraft(rowOf(draft, place))] : []
      })
      settle.resolve({ status: 'appended', events })
      return drafts
    }
    if (answer.status === 'duplicate') {
      settle.resolve({ status: 'duplicate', existing: parseRow(answer.existing) })
    } else {
      settle.reject(
        answer.status === 'unavailable' ? unavailableOf(answer) : new InvalidEvent(answer.message),
      )
    }
    return []
  }

  function toDrafts(events: readonly NewEvent[]): Draft[] {
    const context = { newId: options.newId, newSalt, at: new Date(options.nowMs()).toISOString() }
    return events.map((event) => toDraft(event, context))
  }

  function post(request: StorageRequest): void {
    if (closing && request.kind !== 'close') throw new LedgerUnavailable('the ledger is closed')
    worker.postMessage(request)
  }

  function ask(request: (id: number) => StorageRequest): Promise<StorageMessage> {
    const id = ++lastRequest
    const answer = Promise.withResolvers<StorageMessage>()
    requests.set(id, answer)
    post(request(id))
    return answer.promise
  }

  await ready.promise
  isOpen = true
  const verification = startVerification({
    directory: options.directory,
    afterMs: options.verifyAfterMs ?? VERIFY_AFTER_MS,
    onVerified(found) {
      if (found.status === 'damaged') options.onWarning('the ledger is damaged', { ...found })
      options.onVerified?.(found)
    },
    async rebuildViews(reason) {
      try {
        await ask((id) => ({ id, kind: 'remake-views', reason }))
      } catch (error) {
        options.onWarning('the views could not be rebuilt', { error: String(error) })
      }
    },
  })
  const ledgerDb = openLedgerReadOnly(options.directory)
  const wholeLedger = createReader(ledgerDb)
  const views = openViewsReadOnly(options.directory)
  const ledger = veilLedger(wholeLedger, views)

  return {
    ledger,
    wholeLedger,
    views,
    onHeadMoved: listeners.subscribe,
    // Not async, so that an invalid fact throws synchronously.
    append(events) {
      const drafts = toDrafts(events)
      const settle = Promise.withResolvers<Appended>()
      const id = ++lastRequest
      post({ id, kind: 'append', drafts })
      appends.set(id, { drafts, settle })
      return settle.promise
    },
    follow: (fromSeq, signal) => follow(ledger, listeners.subscribe, fromSeq, signal),
    async erase(seqs, reason) {
      const at = new Date(options.nowMs()).toISOString()
      const message = await ask((id) => ({ id, kind: 'erase', seqs, reason, at }))
      if (message.kind !== 'erased') throw new Error(`the storage thread answered ${message.kind} to erase`)
      if (message.answer.status === 'unavailable') throw unavailableOf(message.answer)
      return message.answer.seqs
    },
    async catchUpLagging() {
      await ask((id) => ({ id, kind: 'catch-up-lagging' }))
    },
    reportFault(error) {
      if (!isDamage(error)) return
      verification.examine(messageOf(error))
    },
    async status() {
      const answer = await ask((id) => ({ id, kind: 'status' }))
      if (answer.kind !== 'status') throw new Error(`the storage thread answered ${answer.kind} to status`)
      return { ...answer.status, damage: verification.damage(), verification: verification.verification() }
    },
    close() {
      closed ??= close()
      return closed
    },
  }

  async function close(): Promise<void> {
    const isGone = closing
    closing = true
    await verification.stop()
    // Close these connections first: the last one to close checkpoints the log.
    ledgerDb.close()
    views.close()
    if (!isGone) await ask((id) => ({ id, kind: 'close' }))
    await worker.terminate()
  }
}

const unavailableOf = ({ message, disk }: Unavailable) => new LedgerUnavailable(message, { disk })

function rowOf(draft: Draft, { seq, hash, erased }: Place): EventRow {
  return { ...draft, seq, hash, ...(erased ? { body: null, salt: null } : {}) }
}
