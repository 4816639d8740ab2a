import { Worker } from 'node:worker_threads'
import type { Database } from 'better-sqlite3'
import { createSalts, type Draft, parseRow, toDraft } from '../../ledger/codec.ts'
import { InvalidEvent, LedgerDamaged, LedgerLocked, LedgerUnavailable } from '../../ledger/errors.ts'
import type { Append, Appended, LedgerEvent, NewEvent } from '../../ledger/event.ts'
import { openLedgerReadOnly } from '../../ledger/files.ts'
import { follow, type SubscribeHead } from '../../ledger/follow.ts'
import { type AnyEvent, createReader, type LedgerReader } from '../../ledger/reader.ts'
import { closureOf } from '../../projections/derivations.ts'
import { openViewsReadOnly } from '../../projections/views.ts'
import type {
  AppendAnswer,
  StorageMessage,
  StorageRequest,
  StorageStatus,
  StorageThreadData,
} from './messages.ts'

export type ErasureReason = Extract<LedgerEvent, { type: 'erased' }>['facts']['reason']

/** The service's one door to what happened and what is derived from it. */
export type Storage = {
  readonly append: Append
  /** Reading on the main thread: point reads and pages only; searches belong to the query thread. */
  readonly ledger: LedgerReader
  readonly views: Database
  readonly onHeadMoved: SubscribeHead
  follow(fromSeq: number, signal: AbortSignal): AsyncGenerator<AnyEvent>
  /**
   * Forgets the events and all that copies them or was learned from them, for good. Resolves to the seqs whose
   * bodies went, when no byte of them is left in any file. Rejects with LedgerUnavailable.
   */
  erase(seqs: readonly number[], reason: ErasureReason): Promise<readonly number[]>
  /** Resolves when the search indexes have every fact that is durable now. */
  catchUpLagging(): Promise<void>
  status(): Promise<StorageStatus>
  close(): Promise<void>
}

export type StorageOptions = {
  readonly directory: string
  readonly nowMs: () => number
  readonly newId: () => string
  readonly traceEvents?: boolean
  readonly onWarning: (message: string, fields: Record<string, unknown>) => void
  readonly onProgress?: (projection: string, seq: number, headSeq: number) => void
  /** The storage thread died: nothing can be acknowledged any more, so the process must end. */
  readonly onFatal: (error: Error) => void
}

/** Seqs that one `erased` fact may name (events/owner.ts). */
const ERASED_SEQS_A_FACT = 500

/** Opens a data directory, catches the views up, and keeps both until `close`. Rejects with LedgerDamaged or LedgerLocked. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const data: StorageThreadData = { directory: options.directory, traceEvents: options.traceEvents ?? false }
  const worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData: data })
  const listeners = new Set<() => void>()
  const appends = new Map<number, { drafts: readonly Draft[]; settle: PromiseWithResolvers<Appended> }>()
  const requests = new Map<number, PromiseWithResolvers<StorageMessage>>()
  const newSalt = createSalts()
  let lastRequest = 0
  let closing = false
  const ready = Promise.withResolvers<void>()

  worker.on('message', (message: StorageMessage) => {
    switch (message.kind) {
      case 'ready':
        return ready.resolve()
      case 'refused':
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
        for (const { id, answer } of message.answers) settleAppend(id, answer)
        return headMoved()
      default:
        requests.get(message.id)?.resolve(message)
        requests.delete(message.id)
        return headMoved()
    }
  })
  worker.on('error', fail)
  worker.on('exit', () => {
    if (!closing) fail(new Error('the storage thread ended'))
  })

  function headMoved(): void {
    for (const listener of [...listeners]) listener()
  }

  function fail(error: unknown): void {
    const cause = error instanceof Error ? error : new Error(String(error))
    const unavailable = new LedgerUnavailable('the ledger is gone', { cause })
    ready.reject(cause)
    for (const { settle } of appends.values()) settle.reject(unavailable)
    for (const request of requests.values()) request.reject(unavailable)
    appends.clear()
    requests.clear()
    if (!closing) options.onFatal(cause)
    closing = true
  }

  function settleAppend(id: number, answer: AppendAnswer): void {
    const pending = appends.get(id)
    appends.delete(id)
    if (!pending) return
    const { drafts, settle } = pending
    if (answer.status === 'appended') {
      const events = answer.places.flatMap((place, index) => {
        const draft = drafts[index]
        const event = draft ? parseRow({ ...draft, ...place }) : null
        return event && event.type !== 'unknown' ? [event] : []
      })
      settle.resolve({ status: 'appended', events })
    } else if (answer.status === 'duplicate') {
      settle.resolve({ status: 'duplicate', existing: parseRow(answer.existing) })
    } else {
      const Failure = answer.status === 'unavailable' ? LedgerUnavailable : InvalidEvent
      settle.reject(new Failure(answer.message))
    }
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
  const ledgerDb = openLedgerReadOnly(options.directory)
  const ledger = createReader(ledgerDb)
  const views = openViewsReadOnly(options.directory)
  const onHeadMoved: SubscribeHead = (onMoved) => {
    listeners.add(onMoved)
    return () => listeners.delete(onMoved)
  }

  return {
    ledger,
    views,
    onHeadMoved,
    // Not async: a fact that does not fit its schema throws here, before anything waits on it.
    append(events) {
      const drafts = toDrafts(events)
      const settle = Promise.withResolvers<Appended>()
      const id = ++lastRequest
      post({ id, kind: 'append', drafts })
      appends.set(id, { drafts, settle })
      return settle.promise
    },
    follow: (fromSeq, signal) => follow(ledger, onHeadMoved, fromSeq, signal),
    async erase(seqs, reason) {
      const gone = closureOf(views, seqs).filter((seq) => hasBody(ledger, seq))
      if (gone.length === 0) return gone
      const facts: NewEvent[] = []
      for (let start = 0; start < gone.length; start += ERASED_SEQS_A_FACT) {
        const part = gone.slice(start, start + ERASED_SEQS_A_FACT)
        facts.push({ type: 'erased', actor: 'owner', channel: 'system', facts: { seqs: part, reason } })
      }
      const answer = await ask((id) => ({ id, kind: 'erase', erasedDrafts: toDrafts(facts) }))
      if (answer.kind === 'erased' && answer.answer.status === 'unavailable')
        throw new LedgerUnavailable(answer.answer.message)
      return gone
    },
    async catchUpLagging() {
      await ask((id) => ({ id, kind: 'catch-up-lagging' }))
    },
    async status() {
      const answer = await ask((id) => ({ id, kind: 'status' }))
      if (answer.kind !== 'status') throw new Error(`the storage thread answered ${answer.kind} to status`)
      return answer.status
    },
    async close() {
      if (closing) return
      const closed = ask((id) => ({ id, kind: 'close' }))
      closing = true
      await closed
      ledgerDb.close()
      views.close()
      await worker.terminate()
    },
  }
}

function hasBody(ledger: LedgerReader, seq: number): boolean {
  const row = ledger.rowAt(seq)
  return row !== undefined && row.body !== null
}
