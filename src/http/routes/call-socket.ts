import { textSocket } from '../../phone/call/ws-sockets.ts'
import { MAX_FRAME_BYTES } from '../../phone/line/media-stream.ts'
import type { RouteDeps } from '../features.ts'
import type { SocketRoute } from '../server/sockets.ts'

const POLICY_VIOLATION = 1008

/**
 * The sockets that carry calls: a media stream, or a relay. Each must present the one-time token of its webhook within
 * five seconds.
 */
export function callSocketRoutes({ phone, webhooks, intrusions }: RouteDeps): SocketRoute[] {
  const ways = [
    { path: '/call', accept: phone.accept },
    { path: '/relay', accept: phone.acceptRelay },
  ]
  return ways.map(({ path, accept }) => ({
    path,
    maxMessageBytes: MAX_FRAME_BYTES,
    onOpen(socket, c) {
      const stream = textSocket(socket)
      const { close } = stream
      stream.close = (code, reason) => {
        if (code === POLICY_VIOLATION) intrusions.count('socket_refused')
        close(code, reason)
      }
      accept(stream, { isSigned: webhooks.isSignedUpgrade(c) })
    },
  }))
}
