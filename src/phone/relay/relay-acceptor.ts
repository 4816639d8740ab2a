import type { OfferedCall } from '../line/call-slot.ts'
import { TOKEN_PARAMETER } from '../line/markup.ts'
import { createSocketDoor, type DoorOptions, type StreamSocket } from '../line/socket-door.ts'
import { parseRelayMessage } from './relay-messages.ts'

/** Accepts the relay of the reserved call. */
export function createRelayAcceptor(
  options: DoorOptions & {
    /** Takes the socket over. Its further messages go to the handlers. */
    readonly accepted: (
      call: OfferedCall,
      socket: StreamSocket,
      sessionId: string,
    ) => Parameters<StreamSocket['listen']>[0]
  },
) {
  return createSocketDoor({
    ...options,
    introduced(text) {
      const message = parseRelayMessage(text)
      if (message?.type !== 'setup') return null
      const { callSid, accountSid, sessionId, customParameters } = message
      return { callSid, accountSid, token: customParameters?.[TOKEN_PARAMETER] ?? '', sessionId }
    },
    accepted: (call, socket, { sessionId }) => options.accepted(call, socket, sessionId),
  })
}
