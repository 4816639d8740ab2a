import type { DiskCause } from '../../ledger/causes.ts'
import type { Draft } from '../../ledger/codec.ts'
import type { ErasureReason } from '../../ledger/erasure.ts'
import type { CommitOutcome } from '../../ledger/ledger.ts'
import type { ProjectionStatus } from '../../projections/projector.ts'

export type StorageThreadData = { readonly directory: string; readonly traceEvents: boolean }

/** Requests to the storage thread; each is answered once, by its `id`. */
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

/** An appended event's place. `erased`: it was stored without its body, because a source is erased. */
export type Place = { readonly seq: number; readonly hash: string; readonly erased: boolean }

/** An append's outcome, without the drafts that the sender has. */
export type AppendAnswer =
  | { readonly status: 'appended'; readonly places: readonly Place[] }
  | Extract<CommitOutcome, { status: 'duplicate' }>
  | { readonly status: 'rejected'; readonly message: string }
  | Unavailable

export type EraseAnswer = { readonly status: 'erased'; readonly seqs: readonly number[] } | Unavailable

export type Unavailable = {
  readonly status: 'unavailable'
  readonly message: string
  readonly disk: DiskCause | null
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

/** Messages of the storage thread. Each commit sends one `appended`, after its facts are in the views. */
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
