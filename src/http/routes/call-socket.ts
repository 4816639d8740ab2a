import { textSocket } from '../../phone/call/ws-sockets.ts'
import { MAX_FRAME_BYTES } from '../../phone/line/media-stream.ts'
import type { StreamSocket } from '../../phone/line/socket-door.ts'
import type { RouteDeps } from '../features.ts'
import type { SocketRoute } from '../server/sockets.ts'

const POLICY_VIOLATION = 1008

type Accept = (socket: StreamSocket, how: { readonly isSigned: boolean }) => void

/** The media stream of a call. It must present the one-time token of its webhook within five seconds. */
export function callSocketRoute(deps: RouteDeps): SocketRoute {
  return providerSocket('/call', deps, deps.phone.accept)
}

/** The relay of a call, which must present its token like a media stream. */
export function relaySocketRoute(deps: RouteDeps): SocketRoute {
  return providerSocket('/relay', deps, deps.phone.acceptRelay)
}

function providerSocket(path: string, { webhooks, intrusions }: RouteDeps, accept: Accept): SocketRoute {
  return {
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
  }
}
