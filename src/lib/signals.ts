import type { NewEvent } from '../../ledger/event.ts'
import type { SignalMode } from '../../projections/signals.ts'

/** Something that a subsystem noticed. The delegate decides whether to act on it. */
export type Signal = {
  readonly kind: string
  readonly mode: SignalMode
  /** 0..9; the highest first. */
  readonly priority: number
  /** Identifies what was noticed. */
  readonly dedupKey: string
  readonly text: string
  readonly causedBy?: number | undefined
  readonly derivedFrom?: readonly number[] | undefined
}

/** Builds the fact of a signal, to append in the same batch as the fact that caused it. */
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
