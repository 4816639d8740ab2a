import type { LedgerEvent, NewEvent } from '../../../ledger/event.ts'
import type { CallFact } from '../call/call-state.ts'
import type { CallMind } from '../call/ports.ts'

/** A call's mind that also places the call's facts. */
export type PlacedMind = CallMind & {
  /** Adds the conversation, span, turn and sources to a fact of the call. */
  place(fact: CallFact): NewEvent
  /** Facts of the call were recorded. */
  recorded(events: readonly LedgerEvent[]): void
  /** The call is over. */
  end(): void
}

export type VoiceSettings = () => { readonly voice: string; readonly transcriptionModel: string }
