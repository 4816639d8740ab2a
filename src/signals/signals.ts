import type { NewEvent } from '../../ledger/event.ts'
import type { SignalMode } from '../../projections/signals.ts'

/** Something that a subsystem noticed. Whether to act on it is the delegate's to decide. */
export type Signal = {
  readonly kind: string
  readonly mode: SignalMode
  /** 0..9; the highest first. */
  readonly priority: number
  /** What it tells of. It goes with the fact of that, whose own key lets it be told of once. */
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
