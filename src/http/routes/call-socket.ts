import { textSocket } from '../../phone/call/ws-sockets.ts'
import { MAX_FRAME_BYTES } from '../../phone/line/media-stream.ts'
import type { StreamSocket } from '../../phone/line/stream-acceptor.ts'
import type { IntrusionCounter } from '../server/intrusion-counter.ts'
import type { SocketRoute } from '../server/sockets.ts'
import type { ProviderWebhooks } from './provider-webhook.ts'

const POLICY_VIOLATION = 1008

/** The media stream of a call. It must present the one-time token of its webhook within five seconds. */
export function callSocketRoute(deps: {
  readonly accept: (socket: StreamSocket, upgrade: { readonly isSigned: boolean }) => void
  readonly webhooks: Pick<ProviderWebhooks, 'isSignedUpgrade'>
  readonly intrusions: Pick<IntrusionCounter, 'count'>
}): SocketRoute {
  return {
    path: '/call',
    maxMessageBytes: MAX_FRAME_BYTES,
    onOpen(socket, incoming) {
      const stream = textSocket(socket)
      const { close } = stream
      stream.close = (code, reason) => {
        if (code === POLICY_VIOLATION) deps.intrusions.count('socket_refused')
        close(code, reason)
      }
      deps.accept(stream, { isSigned: deps.webhooks.isSignedUpgrade(incoming) })
    },
  }
}
