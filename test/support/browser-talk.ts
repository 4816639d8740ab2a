import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { createCaller } from '../doubles/caller.ts'
import { toPcm } from '../doubles/realtime/session.ts'
import type { Client } from '../http/client.ts'
import type { WholeService } from './service.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read messages of every shape.
type Message = any

/** A page that talks over `/api/talk` in real time, as the web app does. Says recordings in mu-law. */
export async function openTalk(
  service: Pick<WholeService, 'origin' | 'client'>,
  options: { readonly client?: Client; readonly origin?: string } = {},
) {
  const { client = service.client, origin = service.origin } = options
  const socket = new WebSocket(`${service.origin.replace('http', 'ws')}/api/talk`, {
    headers: { cookie: client.cookie() ?? '', origin },
  })
  const messages: Message[] = []
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  const started = Promise.withResolvers<Message>()
  onTestFinished(() => socket.terminate())
  const isOpen = () => socket.readyState === WebSocket.OPEN
  const returnMark = (mark: string) => {
    if (isOpen()) socket.send(JSON.stringify({ type: 'talk.played', mark }))
  }
  const caller = createCaller({
    ...{ factor: 1, bytesPerMs: 48, silence: 0, returnMark, closed },
    sendFrame(frame) {
      if (isOpen() && messages.length > 0) socket.send(frame)
    },
  })
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) return caller.receive(data)
    const message = JSON.parse(String(data))
    messages.push(message)
    if (message.type === 'talk.mark') caller.receiveMark(message.mark)
    else if (message.type === 'talk.clear') caller.clear()
    else started.resolve(message)
  })
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  return {
    ...caller,
    /** The first message: that it started, or why not. */
    first: await Promise.race([started.promise, closed.then(() => null)]),
    messages: messages as readonly Message[],
    say: (recording: Uint8Array) => caller.say(toPcm(recording)),
    sendText: (text: string) => socket.send(text),
    sendAudio: (audio: Buffer) => socket.send(audio),
    hangUp: () => socket.close(1000),
    drop: () => socket.terminate(),
    closed,
  }
}
