import type { Database } from 'better-sqlite3'
import type { EventHeader, EventOf } from '../ledger/event.ts'
import type { EventType } from '../ledger/events/catalogue.ts'

/** What a projection does with each event type that it folds; the others do not concern it. */
export type Handlers = { readonly [T in EventType]?: (event: EventOf<T>) => void }

export type Fold = {
  readonly handlers: Handlers
  /** For a projection of the order itself: every event, those of unknown type included, before its handler. */
  readonly every?: (event: EventHeader) => void
  /** The batch ends: write what was kept in memory so that its events share one write. */
  readonly flush?: () => void
  /** The batch was rolled back: forget whatever was remembered of it in memory. */
  readonly discard?: () => void
}

/**
 * A disposable view of the ledger: its tables, and a pure fold into them. A fold sees events alone: no clock,
 * randomness, settings or files, so that dropping everything and replaying gives equal rows. It accepts erased
 * bodies, and on `erased` it leaves its rows as if the bodies had never been there.
 */
export type Projection = {
  readonly name: string
  /** Raised with any change of tables or fold; the projector then rebuilds it. */
  readonly version: number
  readonly tables: readonly string[]
  readonly schema: string
  /** A lagging one is caught up in batches, when idle and before a query, instead of with each append. */
  readonly lagging?: boolean
  /** Prepares the fold's statements on the views' writing connection. */
  readonly fold: (db: Database) => Fold
}

/** Declares a projection; the type of each handler's event follows from its key. */
export function defineProjection(projection: Projection): Projection {
  return projection
}
