import type { CallRow } from '../../../projections/calls.ts'
import type { CallLine, CallLog } from '../call/ports.ts'
import type { Offer } from '../lifecycle/reception.ts'
import { type CallSlot, nextLegOf, type OfferedCall, providerSidOf } from '../line/call-slot.ts'
import { createRelayAcceptor } from './relay-acceptor.ts'
import { createRelayLine, type RelayLine } from './relay-line.ts'

/** How often a call may come back after its relay broke. */
const MAX_RESUMED = 3
/** How long after a restart a call that it interrupted may come back. */
const RESTART_MS = 60_000

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
  readonly log: CallLog
  /** Monotonic. */
  readonly nowMs: () => number
}) {
  const { slot, nowMs } = options
  const relays = new Map<string, { readonly relay: RelayLine; sessionId: string; resumed: number }>()
  /** By the provider's id. Each may come back once. */
  const interrupted = new Map<string, CallRow>()
  let interruptedUntilMs = 0

  const acceptor = createRelayAcceptor({
    slot,
    startDeadlineMs: options.startDeadlineMs,
    accepted(offered, socket, sessionId) {
      const known = relays.get(offered.callSid)
      if (known) {
        known.sessionId = sessionId
        return known.relay.attach(socket)
      }
      const callSid = providerSidOf(offered.callSid)
      const relay = createRelayLine({ callSid, sessionId, nowMs, log: options.log })
      relays.set(offered.callSid, { relay, sessionId, resumed: 0 })
      const handlers = relay.attach(socket)
      options.connect(offered, relay.line)
      return handlers
    },
    refused: options.refused,
  })

  return {
    accept: acceptor.accept,
    /** The call is over. */
    forget: (callSid: string) => relays.delete(callSid),
    /** Calls that the last stop of the service interrupted. */
    wereInterrupted(rows: readonly CallRow[]): void {
      for (const row of rows) interrupted.set(providerSidOf(row.callSid), row)
      interruptedUntilMs = nowMs() + RESTART_MS
    },
    /** Decides on a call whose relay broke while the caller is still on the line. `sessionId` is that of the relay. */
    async resume(offered: OfferedCall, sessionId: string): Promise<Offer> {
      const [callSid, known] =
        [...relays].find(([callSid]) => providerSidOf(callSid) === offered.callSid) ?? []
      const publicUrl = options.publicUrl()
      if (known && callSid !== undefined && publicUrl !== null) {
        // A replayed webhook of an earlier relay must not end this one.
        if (known.sessionId !== sessionId) return { status: 'busy' }
        known.resumed += 1
        known.relay.detach()
        const token = known.resumed > MAX_RESUMED ? null : slot.renew(callSid)
        if (token !== null) return { status: 'connect', token, publicUrl, carriage: 'relay' }
        known.relay.giveUp()
        return { status: 'busy' }
      }
      // A replayed webhook of any other call gets no token.
      const before = interrupted.get(offered.callSid)
      interrupted.delete(offered.callSid)
      if (!before || nowMs() > interruptedUntilMs) return { status: 'busy' }
      return options.offer({ ...offered, callSid: nextLegOf(before.callSid) })
    },
  }
}
