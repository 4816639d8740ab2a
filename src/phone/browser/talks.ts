import { BROWSER } from '../../settings/party.ts'
import type { CallLine } from '../call/ports.ts'
import type { Carriage } from '../carriage.ts'
import type { createReception, Explanation } from '../lifecycle/reception.ts'
import type { CallSlot, OfferedCall } from '../line/call-slot.ts'
import { createBrowserLine, type TalkSocket } from './browser-line.ts'

/** Why a talk does not begin. */
export type TalkRefusal = 'no_model' | 'busy' | Exclude<Explanation, 'no_public_url'>

/** Admits talks of the signed-in owner to the single slot of calls, and connects them as such. */
export function createTalks(options: {
  readonly reception: Pick<ReturnType<typeof createReception>, 'admit'>
  readonly slot: Pick<CallSlot, 'claim'>
  readonly carriage: () => Carriage
  readonly connect: (call: OfferedCall, line: CallLine) => void
  readonly newId: () => string
  /** Of a steady clock. */
  readonly nowMs: () => number
}) {
  return {
    /** Begins a talk over a socket that was just opened, or says why not. Its end closes the socket. */
    async begin(socket: TalkSocket): Promise<TalkRefusal | null> {
      if (options.carriage().by === 'nothing') return 'no_model'
      const callSid = `browser-${options.newId()}`
      const call: OfferedCall = {
        callSid,
        isNamed: true,
        accountSid: '',
        party: 'owner',
        attestation: 'session',
        from: BROWSER,
      }
      const admission = await options.reception.admit(call)
      if (admission.status === 'explained') return admission.reason
      if (admission.status === 'busy') return 'busy'
      options.slot.claim({ callSid, accountSid: '', token: admission.token })
      socket.send({ type: 'talk.started', callSid })
      options.connect(call, createBrowserLine(socket, callSid, options.nowMs))
      return null
    },
  }
}
