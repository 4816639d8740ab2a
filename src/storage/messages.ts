import type { DiskCause } from '../../ledger/causes.ts'
import type { Draft } from '../../ledger/codec.ts'
import type { ErasureReason } from '../../ledger/erasure.ts'
import type { EventArea } from '../../ledger/events/catalogue.ts'
import type { CommitOutcome } from '../../ledger/ledger.ts'
import type { ProjectionStatus } from '../../projections/projector.ts'
import type { OwnBuild } from './build.ts'
import type { Deadline } from './postgres/deadline.ts'
import type { PostgresOptions, StatePlaces } from './postgres/options.ts'

export type StorageThreadData = {
  readonly directory: string
  readonly traceEvents: boolean
  /** Null if the ledger is kept here only. */
  readonly postgres: PostgresOptions | null
  readonly upgrade: UpgradeSettings | null
}

/** What a start needs to know to make a backup before an upgrade. */
export type UpgradeSettings = {
  readonly build: OwnBuild
  readonly places: StatePlaces
  readonly withoutBackup: boolean
}

/** What the opening of a directory is doing, and how many events of how many it has done. */
export type OpeningProgress = {
  readonly step: 'backup' | 'views'
  readonly done: number
  readonly total: number
}

/** How the ledger stands in PostgreSQL. */
export type EngineStatus = {
  readonly mode: PostgresOptions['mode']
  readonly role: 'holder' | 'standby'
  readonly node: string
  /** The node that may write; null if none may, or none is known. */
  readonly holder: string | null
  readonly epoch: number
  /** Events that PostgreSQL, or this standby, does not have yet; null if that is not known. */
  readonly lag: number | null
  /** Since when there is a lag; null if there is none. */
  readonly behindSince: string | null
  /** Why PostgreSQL cannot be reached or used; null if it can. */
  readonly fault: string | null
}

export type Erasure = {
  readonly seqs: readonly number[]
  readonly reason: ErasureReason
  readonly at: string
}

/** Where erased words may be outside this directory, as PostgreSQL knows. */
export type ErasedElsewhere = {
  /** Whether PostgreSQL has certainly removed them from its tables. */
  readonly erased: boolean
  /** Other nodes that have not reported to hold none of them. */
  readonly nodes: string[]
}

export type ViewsStatus = {
  readonly projections: readonly ProjectionStatus[]
  /** Why appends fail; null if they succeed. */
  readonly ledgerError: string | null
  /** Why the views cannot be written; null if they can. Facts are safe either way. */
  readonly viewsError: string | null
  /** The disk's fault; null if the disk is not the cause. */
  readonly viewsCause: DiskCause | null
  /** Absent if the ledger is kept here only. */
  readonly engine?: EngineStatus
}

/** What the storage thread does. Each call is one request, which gets one answer. */
export type StorageCalls = {
  readonly append: (drafts: readonly Draft[]) => Exclude<CommitOutcome, { status: 'rejected' }>
  readonly erase: (erasure: Erasure) => readonly number[]
  readonly catchUpLagging: () => void
  readonly remakeViews: (reason: string) => void
  readonly status: () => ViewsStatus
  readonly erasedElsewhere: () => ErasedElsewhere | null
  readonly close: () => void
}

type RequestOf<Name extends keyof StorageCalls> = {
  readonly id: number
  readonly name: Name
  /** What the views showed when it was made; see `caughtUp`. */
  readonly generation: number
  readonly args: Parameters<StorageCalls[Name]>[0]
}
export type AppendRequest = RequestOf<'append'>
export type StorageRequest = { [Name in keyof StorageCalls]: RequestOf<Name> }[keyof StorageCalls]

/** A call's result, or why it failed: an InvalidEvent, or LedgerUnavailable. */
export type StorageAnswer = { readonly id: number } & (
  | { readonly result: unknown }
  | { readonly failure: string; readonly isInvalid: true }
  | {
      readonly failure: string
      readonly isInvalid: false
      readonly disk: DiskCause | null
      readonly isUnsure: boolean
    }
)

/** Messages of the storage thread. */
export type StorageMessage =
  | { readonly kind: 'ready' }
  /** Sent now and then before it is ready, unless nothing takes long. */
  | { readonly kind: 'opening'; readonly progress: OpeningProgress }
  | { readonly kind: 'notice'; readonly message: string; readonly fields: Record<string, unknown> }
  /** This node is a standby until it is ready. */
  | { readonly kind: 'standby'; readonly engine: EngineStatus }
  /** Until when this node may act. */
  | { readonly kind: 'deadline'; readonly deadline: Deadline }
  /** A commit failed that PostgreSQL may have: until the views show what it has, nothing may rest on them. */
  | { readonly kind: 'behind' }
  /** The views show it. Requests of an earlier generation are refused. */
  | { readonly kind: 'caughtUp'; readonly generation: number }
  | { readonly kind: 'warning'; readonly message: string; readonly fields: Record<string, unknown> }
  | {
      readonly kind: 'answers'
      readonly answers: readonly StorageAnswer[]
      /** The areas of facts that are new in the views; null if that may be any. */
      readonly moved: ReadonlySet<EventArea> | null
    }
