import type { DiskCause } from '../../ledger/causes.ts'
import type { Draft } from '../../ledger/codec.ts'
import type { ErasureReason } from '../../ledger/erasure.ts'
import type { EventArea } from '../../ledger/events/catalogue.ts'
import type { CommitOutcome } from '../../ledger/ledger.ts'
import type { ProjectionStatus } from '../../projections/projector.ts'

export type StorageThreadData = { readonly directory: string; readonly traceEvents: boolean }

export type Erasure = {
  readonly seqs: readonly number[]
  readonly reason: ErasureReason
  readonly at: string
}

export type ViewsStatus = {
  readonly projections: readonly ProjectionStatus[]
  /** Why appends fail; null if they succeed. */
  readonly ledgerError: string | null
  /** Why the views cannot be written; null if they can. Facts are safe either way. */
  readonly viewsError: string | null
  /** The disk's fault; null if the disk is not the cause. */
  readonly viewsCause: DiskCause | null
}

/** What the storage thread does. Each call is one request, which gets one answer. */
export type StorageCalls = {
  readonly append: (drafts: readonly Draft[]) => Exclude<CommitOutcome, { status: 'rejected' }>
  readonly erase: (erasure: Erasure) => readonly number[]
  readonly catchUpLagging: () => void
  readonly remakeViews: (reason: string) => void
  readonly status: () => ViewsStatus
  readonly close: () => void
}

type RequestOf<Name extends keyof StorageCalls> = {
  readonly id: number
  readonly name: Name
  readonly args: Parameters<StorageCalls[Name]>[0]
}
export type AppendRequest = RequestOf<'append'>
export type StorageRequest = { [Name in keyof StorageCalls]: RequestOf<Name> }[keyof StorageCalls]

/** A call's result, or why it failed: an InvalidEvent, or LedgerUnavailable. */
export type StorageAnswer = { readonly id: number } & (
  | { readonly result: unknown }
  | { readonly failure: string; readonly isInvalid: boolean; readonly disk: DiskCause | null }
)

/** Messages of the storage thread. */
export type StorageMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'warning'; readonly message: string; readonly fields: Record<string, unknown> }
  | {
      readonly kind: 'answers'
      readonly answers: readonly StorageAnswer[]
      /** The areas of facts that are new in the views; null if that may be any. */
      readonly moved: ReadonlySet<EventArea> | null
    }
