import { english } from '../../language/message.ts'

/** Said while it is not known why. */
export const NO_ANSWER = english`PostgreSQL does not answer`

/** How a ledger is kept in PostgreSQL as well. */
export type PostgresOptions = {
  /** A connection URL. It may name several hosts, of which the primary is used. */
  readonly url: string
  /** `follow` copies the ledger within a second; `commit` acknowledges what PostgreSQL has committed. */
  readonly mode: 'follow' | 'commit'
  /** The name of this machine among those that share the ledger. */
  readonly node: string
  /** How long a node may write after its last renewal, in ms. */
  readonly leaseMs: number
  readonly state: StatePlaces
}

/** What lies beside the ledger and goes where it goes: a small database and a folder of files, by their names. */
export type StatePlaces = { readonly database: string; readonly directory: string }

/** Another node may write now, so this process must end. It starts again as a standby. */
export class EpochMoved extends Error {
  override readonly name = 'EpochMoved'
}

/** It is not known whether a statement was committed. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}

/** No server that accepts writes answers. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/** The local ledger and that in PostgreSQL do not fit together, or PostgreSQL is not set up. Ends the start. */
export class EngineRefused extends Error {
  override readonly name = 'EngineRefused'
}
