import { textSocket } from '../../phone/call/ws-sockets.ts'
import { MAX_FRAME_BYTES } from '../../phone/line/media-stream.ts'
import type { RouteDeps } from '../features.ts'
import type { SocketRoute } from '../server/sockets.ts'

const POLICY_VIOLATION = 1008

/** The media stream of a call. It must present the one-time token of its webhook within five seconds. */
export function callSocketRoute({ phone, webhooks, intrusions }: RouteDeps): SocketRoute {
  return {
    path: '/call',
    maxMessageBytes: MAX_FRAME_BYTES,
    onOpen(socket, c) {
      const stream = textSocket(socket)
      const { close } = stream
      stream.close = (code, reason) => {
        if (code === POLICY_VIOLATION) intrusions.count('socket_refused')
        close(code, reason)
      }
      phone.accept(stream, { isSigned: webhooks.isSignedUpgrade(c) })
    },
  }
}
