import type { CallRow } from '../../../projections/calls.ts'
import type { Attestation } from '../../settings/party.ts'
import type { CallLine, CallLog } from '../call/ports.ts'
import type { Offer } from '../lifecycle/reception.ts'
import { type CallSlot, nextLegOf, type OfferedCall, providerSidOf } from '../line/call-slot.ts'
import { createSocketDoor } from '../line/socket-door.ts'
import { createRelayLine, type RelayLine } from './relay-line.ts'
import { relayIntroduction } from './relay-messages.ts'

/** How often a call may come back after its relay broke. */
const MAX_RESUMED = 3
/** How long after a restart a call that it interrupted may come back. */
const RESTART_MS = 60_000

/** The call is answered already, so it cannot be rejected as busy. */
export type Comeback = Exclude<Offer, { readonly status: 'busy' }>

/** The relays of calls, and how a call comes back whose relay broke. */
export function createRelays(options: {
  readonly slot: CallSlot
  readonly startDeadlineMs: number | undefined
  /** Connects an accepted call. */
  readonly connect: (offered: OfferedCall, line: CallLine) => void
  /** Offers a call to the single slot. */
  readonly offer: (call: OfferedCall) => Promise<Offer>
  readonly publicUrl: () => string | null
  readonly refused: (reason: string) => void
  /** What vouched for a call when it was offered. */
  readonly attestationOf: (call: CallRow) => Attestation
  readonly logOf: (callSid: string) => CallLog
  /** Monotonic. */
  readonly nowMs: () => number
}) {
  const { slot, nowMs } = options
  const relays = new Map<string, { readonly relay: RelayLine; sessionId: string; resumed: number }>()
  /** By the provider's id, with the relay that broke. Each may come back once. */
  const interrupted = new Map<string, { readonly row: CallRow; sessionId: string | null }>()
  let interruptedUntilMs = 0

  const door = createSocketDoor({
    slot,
    startDeadlineMs: options.startDeadlineMs,
    introduced: relayIntroduction,
    accepted(offered, socket, { sessionId }) {
      const known = relays.get(offered.callSid)
      if (known) {
        known.sessionId = sessionId
        known.resumed += 1
        options.logOf(offered.callSid)('a broken relay came back', sessionId)
        return known.relay.attach(socket)
      }
      const callSid = providerSidOf(offered.callSid)
      const relay = createRelayLine({ callSid, sessionId, nowMs, log: options.logOf(callSid) })
      relays.set(offered.callSid, { relay, sessionId, resumed: 0 })
      const handlers = relay.attach(socket)
      options.connect(offered, relay.line)
      return handlers
    },
    refused: options.refused,
  })

  return {
    accept: door.accept,
    /** The call is over. */
    forget: (callSid: string) => relays.delete(callSid),
    /** Calls that the last stop of the service interrupted. */
    wereInterrupted(rows: readonly CallRow[]): void {
      for (const row of rows) interrupted.set(providerSidOf(row.callSid), { row, sessionId: null })
      interruptedUntilMs = nowMs() + RESTART_MS
    },
    /**
     * Decides on a call whose relay broke while the caller is still on the line. `sessionId` is that of the relay.
     * The provider may ask again. Null if the call may not come back.
     */
    async resume(offered: OfferedCall, sessionId: string): Promise<Comeback | null> {
      const refuse = (why: string) => {
        options.logOf(offered.callSid)('a broken relay may not come back', why)
        return null
      }
      const [callSid, known] =
        [...relays].find(([callSid]) => providerSidOf(callSid) === offered.callSid) ?? []
      const publicUrl = options.publicUrl()
      if (known && callSid !== undefined && publicUrl !== null) {
        // A replayed webhook of an earlier relay must not end this one.
        if (known.sessionId !== sessionId) return refuse('it is not the current one')
        known.relay.detach()
        const token = known.resumed < MAX_RESUMED ? slot.renew(callSid) : null
        if (token !== null) return { status: 'connect', token, publicUrl, carriage: 'relay' }
        known.relay.giveUp()
        return refuse('it broke too often')
      }
      const before = interrupted.get(offered.callSid)
      if (!before || nowMs() > interruptedUntilMs) return refuse('nothing interrupted the call')
      before.sessionId ??= sessionId
      if (before.sessionId !== sessionId) return refuse('it is not the one that was interrupted')
      const { row } = before
      // This request says less of the caller than the first one, so it may not raise them.
      const party = offered.party === 'guest' ? 'guest' : row.party
      const attestation = options.attestationOf(row)
      const offer = await options.offer({ ...offered, callSid: nextLegOf(row.callSid), party, attestation })
      return offer.status === 'busy' ? refuse('the line is busy') : offer
    },
  }
}
