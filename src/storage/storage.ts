import { eventOfDraft, newSalt, parseRow, toDraft } from '../../ledger/codec.ts'
import type { ErasureReason } from '../../ledger/erasure.ts'
import {
  InvalidEvent,
  isDamage,
  LedgerDamaged,
  LedgerLocked,
  LedgerUnavailable,
  messageOf,
} from '../../ledger/errors.ts'
import type { Appended, NewEvent } from '../../ledger/event.ts'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { follow } from '../../ledger/follow.ts'
import { createReader } from '../../ledger/reader.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import { startThread } from '../lib/start-thread.ts'
import { createHeadListeners } from './head-listeners.ts'
import type {
  EngineStatus,
  ErasedElsewhere,
  OpeningProgress,
  StorageAnswer,
  StorageCalls,
  StorageMessage,
  StorageThreadData,
  UpgradeSettings,
  ViewsStatus,
} from './messages.ts'
import { type Deadline, isPast } from './postgres/deadline.ts'
import type { PostgresOptions } from './postgres/options.ts'
import { veilLedger } from './veil.ts'
import { startVerification, type Verification } from './verification.ts'

export type { ErasureReason } from '../../ledger/erasure.ts'

export type StorageStatus = ViewsStatus & {
  /** Damage that a read found, until both files are examined and damaged views rebuilt; else null. */
  readonly damage: string | null
  readonly verification: Verification
}

export type Storage = Awaited<ReturnType<typeof openStorage>>

export type StorageOptions = {
  readonly directory: string
  readonly nowMs: () => number
  readonly newId: () => string
  readonly traceEvents?: boolean
  /** Keeps the ledger in PostgreSQL, too. */
  readonly postgres?: PostgresOptions | null
  /** Looks at the build that used the directory last, and makes a backup before an upgrade. */
  readonly upgrade?: UpgradeSettings
  /** Called every now and then while the directory is opened, if that takes long. */
  readonly onOpening?: (progress: OpeningProgress) => void
  readonly onNotice?: (message: string, fields: Record<string, unknown>) => void
  /** Called every now and then while this node is a standby, before the storage is open. */
  readonly onStandby?: (engine: EngineStatus) => void
  /** Delay from the start to the verification of the whole chain. */
  readonly verifyAfterMs?: number
  /** Pause between verifications of the whole chain. */
  readonly verifyAgainMs?: number
  readonly onVerified?: (verification: Verification) => void
  readonly onWarning: (message: string, fields: Record<string, unknown>) => void
  /** The storage thread died, so nothing can be acknowledged any more and the process must end. */
  readonly onFatal: (error: Error) => void
}

/** The service's own start is over by then. */
const VERIFY_AFTER_MS = 5000

/**
 * Opens a data directory and catches up the views: the service's only access to them and to the ledger. Rejects
 * with LedgerDamaged or LedgerLocked.
 */
export async function openStorage(options: StorageOptions) {
  const { directory, nowMs } = options
  const data: StorageThreadData = {
    directory,
    traceEvents: options.traceEvents ?? false,
    postgres: options.postgres ?? null,
    upgrade: options.upgrade ?? null,
  }
  const worker = startThread(new URL('./thread.ts', import.meta.url), data)
  const listeners = createHeadListeners()
  const requests = new Map<number, PromiseWithResolvers<unknown>>()
  let lastRequest = 0
  let isOpen = false
  let closing = false
  /** Until when this node may act; null if it shares the ledger with no other. */
  let deadline: Deadline | null = null
  let isBehind = false
  let generation = 0
  let closed: Promise<void> | undefined
  const ready = Promise.withResolvers<void>()

  worker.on('message', (message: StorageMessage) => {
    switch (message.kind) {
      case 'ready':
        return ready.resolve()
      case 'standby':
        return options.onStandby?.(message.engine)
      case 'deadline': {
        const mayActAgain = deadline !== null && isPast(deadline)
        deadline = message.deadline
        // What waits for that is not announced by a fact.
        return mayActAgain ? listeners.notify(null) : undefined
      }
      case 'behind':
        isBehind = true
        return
      case 'caughtUp':
        isBehind = false
        generation = message.generation
        return listeners.notify(null)
      case 'opening':
        return options.onOpening?.(message.progress)
      case 'notice':
        return options.onNotice?.(message.message, message.fields)
      case 'warning':
        return options.onWarning(message.message, message.fields)
      case 'answers':
        message.answers.forEach(settle)
        listeners.notify(message.moved)
    }
  })
  worker.on('error', fail)
  worker.on('exit', () => {
    if (!closing) fail(new Error('the storage thread ended'))
  })

  function fail(error: unknown): void {
    const cause = error instanceof Error ? error : new Error(String(error))
    ready.reject(startErrorOf(cause))
    for (const request of requests.values())
      request.reject(new LedgerUnavailable('the storage thread failed', { cause, isUnsure: true }))
    requests.clear()
    // Until the storage is open, the rejection of `openStorage` reports the failure.
    if (isOpen && !closing) options.onFatal(cause)
    closing = true
  }

  function settle(answer: StorageAnswer): void {
    const request = requests.get(answer.id)
    requests.delete(answer.id)
    if ('result' in answer) request?.resolve(answer.result)
    else if (answer.isInvalid) request?.reject(new InvalidEvent(answer.failure))
    else request?.reject(new LedgerUnavailable(answer.failure, answer))
  }

  function ask<Name extends keyof StorageCalls>(
    name: Name,
    ...[args]: Parameters<StorageCalls[Name]>
  ): Promise<ReturnType<StorageCalls[Name]>> {
    if (closing && name !== 'close') throw new LedgerUnavailable('the ledger is closed')
    const id = ++lastRequest
    const request = Promise.withResolvers<unknown>()
    requests.set(id, request)
    worker.postMessage({ id, name, args, generation })
    // The thread answers a call of that name.
    return request.promise as Promise<ReturnType<StorageCalls[Name]>>
  }

  await ready.promise
  isOpen = true
  const verification = startVerification({
    directory,
    afterMs: options.verifyAfterMs ?? VERIFY_AFTER_MS,
    againMs: options.verifyAgainMs,
    nowMs,
    onVerified: options.onVerified ?? (() => undefined),
    async rebuildViews(reason) {
      try {
        await ask('remakeViews', reason)
      } catch (error) {
        options.onWarning('the views could not be rebuilt', { error: String(error) })
      }
    },
  })
  const ledgerDb = openLedgerReadOnly(directory)
  const wholeLedger = createReader(ledgerDb)
  const views = openViewsReadOnly(directory)
  const ledger = veilLedger(wholeLedger, views)
  const now = () => new Date(nowMs()).toISOString()

  return {
    /** For point reads and pages; use the query thread to search. Hidden events read as erased. */
    ledger,
    /** Includes hidden events; only for erasing. */
    wholeLedger,
    views,
    onHeadMoved: listeners.subscribe,
    // Not async, so that an invalid fact throws synchronously.
    append(events: readonly NewEvent[]): Promise<Appended> {
      const context = { newId: options.newId, newSalt, at: now() }
      return ask(
        'append',
        events.map((event) => toDraft(event, context)),
      ).then((outcome) =>
        outcome.status === 'appended'
          ? { status: 'appended', events: outcome.rows.map(eventOfDraft) }
          : { status: 'duplicate', existing: parseRow(outcome.existing) },
      )
    },
    /** False once another node may have taken over: nothing may be sent or done outside any more. */
    mayAct: () => deadline === null || !(isBehind || isPast(deadline)),
    /** Requests that the storage thread has not answered yet. */
    pendingRequests: () => requests.size,
    follow: (fromSeq: number, signal: AbortSignal) => follow(ledger, listeners.subscribe, fromSeq, signal),
    /**
     * Erases the bodies of events for good. Resolves to the seqs that had a body, once no byte of them is left
     * in any file. Rejects with LedgerUnavailable if that is not confirmed yet; a recorded erasure then
     * continues by itself.
     */
    erase: async (seqs: readonly number[], reason: ErasureReason) =>
      ask('erase', { seqs, reason, at: now() }),
    /** Where the words of all erasures so far may be outside this directory; null if the ledger is kept here only. */
    erasedElsewhere: async (): Promise<ErasedElsewhere | null> => ask('erasedElsewhere'),
    /** Resolves when the search indexes have every fact that is durable at the time of the call. */
    catchUpLagging: async () => ask('catchUpLagging'),
    /**
     * Takes any error of a request or a reactor. If SQLite found a damaged file, both files are examined in a
     * separate thread: damaged views are rebuilt in place, and a damaged ledger shows in `verification`.
     */
    reportFault(error: unknown): void {
      if (isDamage(error)) verification.examine(messageOf(error))
    },
    status: async (): Promise<StorageStatus> => ({
      ...(await ask('status')),
      damage: verification.damage(),
      verification: verification.verification(),
    }),
    close(): Promise<void> {
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
    if (!isGone) await ask('close')
    await worker.terminate()
  }
}

/** Errors from another thread keep their name, but lose their class. */
function startErrorOf(error: Error): Error {
  if (error.name === 'LedgerLocked') return new LedgerLocked(error.message)
  if (error.name !== 'LedgerDamaged') return error
  const seq = 'seq' in error && typeof error.seq === 'number' ? error.seq : null
  return new LedgerDamaged(error.message, { seq })
}
