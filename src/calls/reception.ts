import type { Append, NewEvent } from '../../ledger/event.ts'
import type { CallQueries } from '../../projections/calls.ts'
import type { CallSlot, OfferedCall } from '../channels/telephony/call-slot.ts'
import type { Placement } from '../conversation/placement.ts'
import type { CallPlace } from './call-turns.ts'
import { callEnding } from './span-facts.ts'

/** Why a caller is told something instead of being connected. */
export type Explanation = 'no_public_url' | 'budget'

export type Offer =
  | {
      readonly status: 'connect'
      readonly token: string
      readonly publicUrl: string
      /** Without a model that talks, the stream is over at once, and the markup behind it says why. */
      readonly canTalk: boolean
    }
  | { readonly status: 'busy' }
  | { readonly status: 'explained'; readonly reason: Explanation }

export type Reception = {
  /** Decides on a call that the provider announces. The same one again gets the same answer and is one fact. */
  offer(call: OfferedCall): Promise<Offer>
}

/** Takes calls: who may come through, and the one slot there is. */
export function createReception(options: {
  readonly append: Append
  readonly placement: Placement
  readonly calls: CallQueries
  readonly slot: CallSlot
  readonly publicUrl: () => string | null
  readonly hasRealtimeModel: () => boolean
  /** Whether a stranger's number, or all of them together, had what they may have in a day. */
  readonly guestIsSpent: (number: string) => boolean
  /** The budget of the day is spent, whoever phones. */
  readonly isSpent: () => boolean
  readonly newId: () => string
  /** The slot is this call's, and its fact is durable: its stream may come. */
  readonly reserved: (call: OfferedCall, place: CallPlace) => void
  /** A guest's call has to make room. */
  readonly evicted: (call: OfferedCall) => void
}): Reception {
  const { append, placement, calls, slot } = options

  async function reject(
    { callSid, party, from }: OfferedCall,
    reason: 'busy' | 'not_configured' | 'budget',
  ): Promise<void> {
    const conversationId = party === 'owner' ? (placement.openConversationId() ?? null) : null
    await append([
      {
        type: 'call.rejected',
        actor: 'service',
        channel: 'voice',
        conversationId,
        key: `call:${callSid}:rejected`,
        facts: { callSid, party, reason },
        body: { from },
      },
    ])
  }

  function offered({ callSid, party, from }: OfferedCall): NewEvent {
    return {
      type: 'call.offered',
      actor: party,
      channel: 'voice',
      key: `call:${callSid}:offered`,
      facts: { callSid, party },
      body: { from },
    }
  }

  /** The call's fact, in a span of its own: the owner's in the open conversation, a stranger's in none. */
  async function place(call: OfferedCall): Promise<CallPlace> {
    const { callSid, party } = call
    const result = await placement.appendToNewSpan(
      { kind: 'call', channel: 'voice', inConversation: party === 'owner' },
      () => [offered(call)],
    )
    const event = result.status === 'appended' ? result.events.at(-1) : result.existing
    if (!event?.spanId) throw new Error('a call has no place in the ledger')
    const { conversationId, spanId, seq } = event
    return { callSid, party, conversationId, spanId, offeredSeq: seq }
  }

  return {
    async offer(call) {
      const known = calls.bySid(call.callSid)
      // The webhook of a call that was taken already: a replay, to which nothing more is given.
      if (known && slot.holder()?.call.callSid !== call.callSid) return { status: 'busy' }
      const publicUrl = options.publicUrl()
      if (publicUrl === null) {
        await reject(call, 'not_configured')
        return { status: 'explained', reason: 'no_public_url' }
      }
      const isGuest = call.party === 'guest'
      if (!known && (options.isSpent() || (isGuest && options.guestIsSpent(call.from)))) {
        // A stranger beyond the budget leaves no trace here: the route counts it.
        if (!isGuest) await reject(call, 'budget')
        return { status: 'explained', reason: 'budget' }
      }
      const reservation = slot.reserve(call)
      if (reservation.status === 'busy') {
        if (!known) await reject(call, 'busy')
        return { status: 'busy' }
      }
      if (reservation.evicted) options.evicted(reservation.evicted)
      try {
        const placed = await place(call)
        const holder = slot.holder()
        if (holder?.call.callSid !== call.callSid) {
          // Taken from it while its fact was written down: nobody knew of it yet who could have ended it.
          await append(callEnding(placed, holder === null ? 'not_connected' : 'owner_calling'))
          return { status: 'busy' }
        }
        options.reserved(call, placed)
      } catch (error) {
        slot.release(call.callSid)
        throw error
      }
      const canTalk = options.hasRealtimeModel()
      return { status: 'connect', token: reservation.token, publicUrl, canTalk }
    },
  }
}
