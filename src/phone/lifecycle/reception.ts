import type { Append, NewEvent } from '../../../ledger/event.ts'
import type { CallQueries } from '../../../projections/calls.ts'
import type { Placement } from '../../storage/placement.ts'
import type { Carriage } from '../carriage.ts'
import { type CallSlot, isTalk, type OfferedCall } from '../line/call-slot.ts'
import type { CallPlace } from './call-turns.ts'
import { callEnding } from './span-facts.ts'

/** Why a caller hears an explanation instead of being connected. */
export type Explanation = 'no_public_url' | 'budget' | 'halted'

type Refused<E> = { readonly status: 'busy' } | { readonly status: 'explained'; readonly reason: E }

/** `token` claims the slot. */
export type Admission =
  | { readonly status: 'admitted'; readonly token: string }
  | Refused<Exclude<Explanation, 'no_public_url'>>

export type Offer =
  | {
      readonly status: 'connect'
      readonly token: string
      readonly publicUrl: string
      /** With nothing, the stream ends at once, and the markup after it says why. */
      readonly carriage: Carriage['by']
    }
  | Refused<Explanation>

const rejectionKey = (callSid: string) => `call:${callSid}:rejected`

/** Admits calls to the single slot. */
export function createReception(options: {
  readonly append: Append
  readonly placement: Placement
  readonly calls: CallQueries
  readonly slot: CallSlot
  readonly publicUrl: () => string | null
  readonly carriage: () => Carriage['by']
  /** Whether the daily budget of this guest, or of all guests, is exhausted. */
  readonly guestIsSpent: (number: string) => boolean
  readonly isHalted: () => boolean
  /** Whether the ledger has an event with this key. */
  readonly isRecorded: (key: string) => boolean
  /** Whether the daily budget or the allowance is exhausted for a call. */
  readonly isSpent: (call: OfferedCall) => boolean
  readonly newId: () => string
  /** The call holds the slot and its fact is durable, so its stream may connect. */
  readonly reserved: (call: OfferedCall, place: CallPlace) => void
  /** A guest's call must make room for the owner's. */
  readonly evicted: (call: OfferedCall) => void
}) {
  const { append, placement, calls, slot } = options

  /** Records a missed call. The owner in a browser is told at once, and misses nothing. */
  async function reject(
    call: OfferedCall,
    reason: 'busy' | 'not_configured' | 'budget' | 'halted',
  ): Promise<void> {
    if (isTalk(call)) return
    const { callSid, party, from } = call
    const conversationId = party === 'owner' ? (placement.openConversationId() ?? null) : null
    await append([
      {
        type: 'call.rejected',
        actor: 'service',
        channel: 'voice',
        conversationId,
        key: rejectionKey(callSid),
        facts: { callSid, party, reason },
        body: { from },
      },
    ])
  }

  function offered({ callSid, party, attestation, from }: OfferedCall): NewEvent {
    return {
      type: 'call.offered',
      actor: party,
      channel: 'voice',
      key: `call:${callSid}:offered`,
      facts: { callSid, party, attestation },
      body: { from },
    }
  }

  /** Records the call in a new span: in the open conversation for the owner, in none for a guest. */
  async function place(call: OfferedCall): Promise<CallPlace> {
    const { callSid, party } = call
    const result = await placement.appendToNewSpan(
      { kind: 'call', channel: 'voice', inConversation: party === 'owner' },
      [offered(call)],
    )
    const event = result.status === 'appended' ? result.events.at(-1) : result.existing
    if (!event?.spanId) throw new Error('the call has no span in the ledger')
    const { conversationId, spanId, seq } = event
    return { callSid, party, conversationId, spanId, offeredSeq: seq }
  }

  /** Decides on a call, wherever it comes from, and reserves the slot for it. Idempotent per call. */
  async function admit(call: OfferedCall): Promise<Admission> {
    const known = calls.bySid(call.callSid)
    const isOverBudget = call.party === 'guest' && options.guestIsSpent(call.from)
    if (!known && (isOverBudget || options.isSpent(call))) {
      // The route counts guests over their budget, so that they cannot fill the ledger.
      if (!isOverBudget) await reject(call, 'budget')
      return { status: 'explained', reason: 'budget' }
    }
    if (options.isHalted()) {
      if (!known) await reject(call, 'halted')
      return { status: 'explained', reason: 'halted' }
    }
    // A repeated webhook of a call that is over, although the line is free by now.
    if (!known && options.isRecorded(rejectionKey(call.callSid))) return { status: 'busy' }
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
        // The slot was lost while the fact was being recorded, before anything could end this call.
        await append(callEnding(placed, holder === null ? 'not_connected' : 'owner_calling'))
        return { status: 'busy' }
      }
      options.reserved(call, placed)
    } catch (error) {
      slot.release(call.callSid)
      throw error
    }
    return { status: 'admitted', token: reservation.token }
  }

  return {
    admit,
    /** Decides on an incoming call of the provider. Idempotent per call. */
    async offer(call: OfferedCall): Promise<Offer> {
      // A replayed webhook of an earlier call gets no token.
      if (calls.bySid(call.callSid) && slot.holder()?.call.callSid !== call.callSid) return { status: 'busy' }
      const publicUrl = options.publicUrl()
      if (publicUrl === null) {
        await reject(call, 'not_configured')
        return { status: 'explained', reason: 'no_public_url' }
      }
      const admission = await admit(call)
      if (admission.status !== 'admitted') return admission
      return { status: 'connect', token: admission.token, publicUrl, carriage: options.carriage() }
    },
  }
}
