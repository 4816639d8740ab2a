import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import type { WholeService } from './service.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read messages of every shape.
type Message = any

/** A browser tab on the chat socket, with every message it received. */
export async function openTab(service: WholeService, since?: number) {
  const url = `${service.origin.replace('http', 'ws')}/chat${since === undefined ? '' : `?since=${since}`}`
  const socket = new WebSocket(url, {
    headers: { cookie: service.client.cookie() ?? '', origin: service.origin },
  })
  const heard: Message[] = []
  const waiting = new Set<() => void>()
  socket.on('message', (data) => {
    heard.push(JSON.parse(String(data)))
    for (const check of [...waiting]) check()
  })
  onTestFinished(() => socket.terminate())
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  return {
    heard,
    send: (message: object) => socket.send(JSON.stringify(message)),
    close: () => socket.close(),
    /** The first matching message, already received or still to come. */
    hear(fits: (message: Message) => boolean): Promise<Message> {
      return new Promise((resolve) => {
        const check = () => {
          const found = heard.find(fits)
          if (!found) return
          waiting.delete(check)
          resolve(found)
        }
        waiting.add(check)
        check()
      })
    },
    events: () => heard.filter(({ type }) => type === 'timeline.event').map(({ event }) => event),
  }
}
