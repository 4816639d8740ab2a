import type { Database } from 'better-sqlite3'
import type { Append, NewEvent } from '../../ledger/event.ts'
import { createSignalQueries, type SignalMode } from '../../projections/signals.ts'

/** Something that a subsystem noticed. Whether to act on it is the delegate's to decide. */
export type Signal = {
  readonly kind: string
  readonly mode: SignalMode
  /** 0..9; the highest first. */
  readonly priority: number
  /** While a signal of this key waits, another is not raised. */
  readonly dedupKey: string
  readonly text: string
  readonly causedBy?: number | undefined
  readonly derivedFrom?: readonly number[] | undefined
}

/** The fact of a signal, to be appended together with the fact that it tells of. */
export function signalFact(signal: Signal, signalId: string): NewEvent {
  const { text, causedBy, derivedFrom, ...facts } = signal
  return {
    type: 'signal.raised',
    actor: 'service',
    channel: 'inner',
    causedBy,
    derivedFrom,
    facts: { signalId, ...facts },
    body: { text },
  }
}

export type RaiseSignal = (signal: Signal) => Promise<void>

/** Raises signals, one a key at a time. */
export function createRaiseSignal(options: {
  readonly append: Append
  readonly views: Database
  readonly newId: () => string
}): RaiseSignal {
  const queries = createSignalQueries(options.views)
  return async (signal) => {
    if (queries.byDedupKey(signal.dedupKey)) return
    await options.append([signalFact(signal, options.newId())])
  }
}
