import type { LedgerEvent, NewEvent } from '../../../ledger/event.ts'
import type { InputItem, ModelId } from '../../model/port.ts'
import type { ToolContext } from '../../model/tool.ts'
import type { Right } from '../../settings/rights.ts'
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

/** An item of the chain: what was said and done on all channels. */
export type PastItem = {
  readonly item: InputItem
  readonly seqs: readonly number[]
  /** The text of an opaque item. */
  readonly quotable?: string
}

/** What a call reads of the conversation. */
export type CallChain = {
  read(
    conversationId: string,
    model: ModelId,
    options: { readonly textOnly: boolean },
  ): Promise<{ readonly items: readonly PastItem[]; readonly barred: ReadonlySet<number> }>
  /** The seqs barred since the chain was read. */
  barredSince(chain: { readonly barred: ReadonlySet<number> }): readonly number[]
  /** Whether a capsule derives from barred words. */
  derivesFromBarred(seq: number): boolean
}

/** Runs the delegate's tools for a call and records their outcomes. */
export type CallTools = {
  run(
    calls: readonly {
      readonly callId: string
      readonly tool: string
      readonly arguments: string
      readonly seq: number
      readonly erased: boolean
    }[],
    round: Omit<ToolContext, 'callId' | 'key'> & {
      /** Tells the owner where a request to confirm comes from. */
      readonly why: string
      readonly tally: Tally
      /** What the call may do. */
      readonly right: Right
    },
  ): Promise<readonly { readonly output: string; readonly seq: number }[]>
  isIdempotent(tool: string): boolean
}

/** What one turn has changed. It is limited. */
export type Tally = { changes: number; texts: number }
