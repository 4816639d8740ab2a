import type { DiskCause } from '../../ledger/causes.ts'
import type { Draft } from '../../ledger/codec.ts'
import type { ErasureReason } from '../../ledger/erasure.ts'
import type { CommitOutcome } from '../../ledger/ledger.ts'
import type { ProjectionStatus } from '../../projections/projector.ts'

/** What the storage thread is started with. */
export type StorageThreadData = { readonly directory: string; readonly traceEvents: boolean }

/** What the service asks of the storage thread; each request is answered once, by its `id`. */
export type StorageRequest =
  | { readonly id: number; readonly kind: 'append'; readonly drafts: readonly Draft[] }
  | {
      readonly id: number
      readonly kind: 'erase'
      readonly seqs: readonly number[]
      readonly reason: ErasureReason
      readonly at: string
    }
  | { readonly id: number; readonly kind: 'catch-up-lagging' }
  | { readonly id: number; readonly kind: 'status' }
  | { readonly id: number; readonly kind: 'remake-views'; readonly reason: string }
  | { readonly id: number; readonly kind: 'close' }

/** Where an appended event came to stand. `erased` when it was born so: its body is nowhere. */
export type Place = { readonly seq: number; readonly hash: string; readonly erased: boolean }

/** An append's outcome without what the sender already has. */
export type AppendAnswer =
  | { readonly status: 'appended'; readonly places: readonly Place[] }
  | Extract<CommitOutcome, { status: 'duplicate' }>
  | { readonly status: 'rejected'; readonly message: string }
  | Unavailable

export type EraseAnswer = { readonly status: 'erased'; readonly seqs: readonly number[] } | Unavailable

/** The ledger takes nothing, and why, where it is the disk. */
export type Unavailable = {
  readonly status: 'unavailable'
  readonly message: string
  readonly disk: DiskCause | null
}

export type ViewsStatus = {
  readonly projections: readonly ProjectionStatus[]
  /** Why the ledger takes no append; null while it does. */
  readonly ledgerError: string | null
  /** What of the disk is at fault for that; null where it is not the disk. */
  readonly ledgerCause: DiskCause | null
  /** Why the views could not be written; null while they can. The facts are safe either way. */
  readonly viewsError: string | null
  readonly viewsCause: DiskCause | null
}

/** What the storage thread says. `answers` come in one message a commit, after the views have the facts. */
export type StorageMessage =
  | { readonly kind: 'ready'; readonly headSeq: number; readonly headHash: string }
  | { readonly kind: 'progress'; readonly projection: string; readonly seq: number; readonly headSeq: number }
  | { readonly kind: 'warning'; readonly message: string; readonly fields: Record<string, unknown> }
  | { readonly kind: 'refused'; readonly name: string; readonly message: string; readonly seq: number | null }
  | {
      readonly kind: 'appended'
      readonly answers: readonly { readonly id: number; readonly answer: AppendAnswer }[]
    }
  | { readonly kind: 'views-moved' }
  | { readonly kind: 'erased'; readonly id: number; readonly answer: EraseAnswer }
  | { readonly kind: 'caught-up'; readonly id: number }
  | { readonly kind: 'status'; readonly id: number; readonly status: ViewsStatus }
  | { readonly kind: 'remade'; readonly id: number }
  | { readonly kind: 'closed'; readonly id: number }
