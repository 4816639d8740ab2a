import type { Database } from 'better-sqlite3'
import type { EventOf } from '../ledger/event.ts'
import type { EventType } from '../ledger/events/catalogue.ts'
import type { AnyEvent } from '../ledger/reader.ts'

/** Handlers of the event types that a projection folds. */
export type Handlers = { readonly [T in EventType]?: (event: EventOf<T>) => void }

export type Fold = {
  readonly handlers: Handlers
  /** Called for every event, including unknown types, before its handler. */
  readonly every?: (event: AnyEvent) => void
  /** Called at the end of a batch: write what was buffered in memory. */
  readonly flush?: () => void
  /** Called after a rollback: drop all in-memory state of the batch. */
  readonly discard?: () => void
}

/**
 * A disposable view of the ledger: tables and a pure fold into them. A fold reads no clock, randomness,
 * settings or files, so replaying gives equal rows. It accepts erased bodies, and on `erased` it leaves rows
 * as if the bodies had never existed.
 */
export type Projection = {
  readonly name: string
  /** Increment it with any change to tables or fold; the projector then rebuilds the view. */
  readonly version: number
  readonly tables: readonly string[]
  readonly schema: string
  /** Catches up in batches, when idle and before a query, instead of with each append. */
  readonly lagging?: boolean
  /** Prepares the fold's statements on the views' writing connection. */
  readonly fold: (db: Database) => Fold
}

/** Declares a projection and infers each handler's event type from its key. */
export function defineProjection(projection: Projection): Projection {
  return projection
}
