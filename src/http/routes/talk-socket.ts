import type { WebSocket } from 'ws'
import { english } from '../../language/message.ts'
import { parseJson } from '../../lib/parse-json.ts'
import type { TalkSocket } from '../../phone/browser/browser-line.ts'
import type { TalkRefusal } from '../../phone/browser/talks.ts'
import { type TalkServerMessage, talkMessageSchema, talkSocket } from '../contract/speech.ts'
import type { RouteDeps } from '../features.ts'
import type { Routes } from '../server/env.ts'
import { conflict, problemOf, Refusal } from '../server/problem.ts'
import type { SocketRoute } from '../server/sockets.ts'
import { turnRefusal } from './chat.ts'

/** More than a second of audio. A browser sends 20 ms at a time. */
const MAX_MESSAGE_BYTES = 64 * 1024
/** The browser closed the socket, or left the page (RFC 6455, 7.4.1; 1005 is a close without a code). */
const BY_THE_BROWSER = new Set([1000, 1001, 1005])

/** Documents the socket of a talk in the API reference. A plain request to its address gets 404. */
export function talkSocketReference(routes: Routes): void {
  routes.openAPIRegistry.register('TalkClientMessage', talkMessageSchema)
  routes.openAPIRegistry.registerPath(talkSocket)
}

/** `/api/talk`: a call of the signed-in owner from the browser. Its end closes the socket, and the other way round. */
export function talkSocketRoute({ phone, storage, log }: RouteDeps): SocketRoute {
  return {
    path: talkSocket.path,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    onOpen(socket) {
      const refuse = (refusal: Refusal) => {
        send(socket, { type: 'talk.refused', problem: problemOf(refusal) })
        socket.close(1000)
      }
      phone.talk(talkSocketOf(socket)).then(
        (refused) => refused && refuse(refusals[refused]),
        (error: unknown) => {
          log.error({ err: error }, 'A talk could not begin')
          storage.reportFault(error)
          refuse(UNRECORDED)
        },
      )
    },
  }
}

const UNRECORDED = new Refusal(
  503,
  'ledger_unavailable',
  english`The talk cannot be recorded, so it did not begin. Try again.`,
)
const refusals: Readonly<Record<TalkRefusal, Refusal>> = {
  no_model: new Refusal(
    503,
    'no_voice_model',
    english`No model can listen and speak. Choose one in Settings → Model services.`,
  ),
  busy: conflict('call_in_progress', english`Another call is in progress. Hang up first.`),
  budget: turnRefusal({
    kind: 'allowance',
    text: english`The budget for calls or the allowance is used up for now.`,
  }),
  halted: conflict('halted', english`Delegate is halted. Release it first.`),
}

function send(socket: WebSocket, message: TalkServerMessage): void {
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message))
}

/** Wraps an accepted WebSocket as the socket of a talk. */
export function talkSocketOf(socket: WebSocket): TalkSocket {
  return {
    sendAudio(audio) {
      if (socket.readyState === socket.OPEN) socket.send(audio)
    },
    send: (message) => send(socket, message),
    close: () => socket.close(1000),
    get bufferedBytes() {
      return socket.bufferedAmount
    },
    listen({ audio, played, closed }) {
      socket.on('message', (data: Buffer, isBinary) => {
        if (isBinary) return audio(data)
        const message = talkMessageSchema.safeParse(parseJson(String(data)))
        if (message.success) played(message.data.mark)
      })
      socket.on('close', (code) => closed(BY_THE_BROWSER.has(code) ? 'stopped' : 'closed'))
      if (socket.readyState !== socket.OPEN) queueMicrotask(() => closed('closed'))
    },
  }
}
