import { randomBytes } from 'node:crypto'
import { isEqual } from '../../lib/is-equal.ts'
import type { Attestation, Party } from '../../settings/party.ts'

/** How long a reservation and its token wait for the stream. */
export const RESERVATION_MS = 30_000

const TOKEN_BYTES = 32

export type OfferedCall = {
  readonly callSid: string
  /** False if a developer's own request named no call. The stream of any call may then present the token. */
  readonly isNamed: boolean
  /** Empty if a developer's own request named no account. Any account then matches. */
  readonly accountSid: string
  readonly party: Party
  readonly attestation: Attestation
  readonly from: string
}

/** Whether the owner talks in a browser, whose session says who they are. */
export const isTalk = ({ attestation }: Pick<OfferedCall, 'attestation'>): boolean =>
  attestation === 'session'

export type Reservation =
  | {
      readonly status: 'reserved'
      readonly token: string
      /** A guest's call that must make room. The caller of `reserve` must end it. */
      readonly evicted: OfferedCall | null
    }
  | { readonly status: 'busy' }

export type Claim =
  | { readonly status: 'claimed'; readonly call: OfferedCall }
  | { readonly status: 'refused'; readonly reason: 'nothing_reserved' | 'wrong_token' | 'wrong_call' }

/** Separates the provider's id of a call from the number of its leg. */
const LEG = '~'

/** The provider's id of a call. A leg is what follows a restart of the service in the middle of a call. */
export const providerSidOf = (callSid: string): string => callSid.split(LEG)[0] ?? callSid

/** The id of a call's next leg. */
export function nextLegOf(callSid: string): string {
  const [sid, leg = '1'] = callSid.split(LEG)
  return `${sid}${LEG}${Number(leg) + 1}`
}

export type CallSlot = ReturnType<typeof createCallSlot>

/** Allows one call at a time. Synchronous, so taking the slot is atomic. A reservation expires. */
export function createCallSlot(options: { readonly nowMs: () => number }) {
  let held: { call: OfferedCall; token: string | null; untilMs: number; isRenewed: boolean } | null = null

  const holder = () => {
    if (held !== null && held.token !== null && options.nowMs() >= held.untilMs) held = null
    return held
  }

  return {
    /**
     * Reserves the only slot for a call. Idempotent until the stream connects. The owner's call evicts a
     * guest's, never the other way round.
     */
    reserve(call: OfferedCall): Reservation {
      const before = holder()
      if (before !== null && before.call.callSid === call.callSid) {
        // A repeated webhook of a call that was connected before gets no token.
        return before.token === null || before.isRenewed
          ? { status: 'busy' }
          : { status: 'reserved', token: before.token, evicted: null }
      }
      const mayEvict = call.party === 'owner' && before?.call.party === 'guest'
      if (before !== null && !mayEvict) return { status: 'busy' }
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      held = { call, token, untilMs: options.nowMs() + RESERVATION_MS, isRenewed: false }
      return { status: 'reserved', token, evicted: before?.call ?? null }
    },
    /** Exchanges the token of a reservation for its call, once. A wrong token does not end the reservation. */
    claim(stream: { readonly callSid: string; readonly accountSid: string; readonly token: string }): Claim {
      const now = holder()
      if (now === null || now.token === null) return { status: 'refused', reason: 'nothing_reserved' }
      if (!isEqual(stream.token, now.token)) return { status: 'refused', reason: 'wrong_token' }
      const { callSid, isNamed, accountSid } = now.call
      if (
        (isNamed && stream.callSid !== providerSidOf(callSid)) ||
        (accountSid !== '' && stream.accountSid !== accountSid)
      ) {
        return { status: 'refused', reason: 'wrong_call' }
      }
      held = { ...now, token: null }
      return { status: 'claimed', call: now.call }
    },
    /**
     * A token for another socket of the connected call that holds the slot, the same until a socket presents it.
     * Null for any other call.
     */
    renew(callSid: string): string | null {
      const now = holder()
      if (now === null || now.call.callSid !== callSid) return null
      const token = now.token ?? randomBytes(TOKEN_BYTES).toString('base64url')
      held = { ...now, token, untilMs: options.nowMs() + RESERVATION_MS, isRenewed: true }
      return token
    },
    /** Frees the slot if this call holds it. Idempotent. */
    release(callSid: string): boolean {
      if (held === null || held.call.callSid !== callSid) return false
      held = null
      return true
    },
    /** The call that holds the slot; null if it is free. */
    holder(): { readonly call: OfferedCall; readonly connected: boolean } | null {
      const now = holder()
      return now && { call: now.call, connected: now.token === null }
    },
  }
}
