import type { LedgerEvent, NewEvent } from '../../ledger/event.ts'
import type { CallFact } from '../voice/call-state.ts'
import type { CallMind } from '../voice/ports.ts'

/** What a call needs of the agent, and where its facts belong. */
export type PlacedMind = CallMind & {
  /** A fact of the call in its conversation, span and turn, with what its words derive from. */
  place(fact: CallFact): NewEvent
  /** Facts of the call that are in the ledger now. */
  recorded(events: readonly LedgerEvent[]): void
  /** The call is over. */
  end(): void
}

/** The voice that a session speaks with, and the model that writes down what it hears. */
export type VoiceSettings = () => { readonly voice: string; readonly transcriptionModel: string }
