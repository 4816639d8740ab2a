import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { loadOpenAiSpec } from '../spec/openai-spec.ts'
import { type ClientMessage, createRealtimeSession, type RealtimeSession, type Script } from './session.ts'

export type RealtimeDouble = {
  readonly url: string
  /** Every client event in order, except audio appends, which `appendedBytes` counts. */
  readonly received: readonly ClientMessage[]
  readonly appended: () => Buffer
  /** Client errors, and violations of the official description. */
  readonly problems: readonly string[]
  readonly sessions: () => number
  /** Cuts every connection without a close frame. */
  drop(): void
  /** Stops sending in the sessions that are open now, but keeps them connected. */
  hang(): void
  /** Starts or stops refusing new connections. */
  refuse(on: boolean): void
  /** Sends an error event in every open session. */
  complain(code: string): void
  close(): Promise<void>
}

/** Loaded once, because compiling its schemas is slow. Null if absent. */
const spec = loadOpenAiSpec()

/**
 * A realtime model service (GA) on loopback. It detects speech by energy, so recorded speech drives it, and
 * answers by script. Messages both ways are checked against the official description, if present.
 */
export async function startRealtimeDouble(script: Script): Promise<RealtimeDouble> {
  const problems: string[] = []
  const received: ClientMessage[] = []
  const audio: Buffer[] = []
  const open = new Map<WebSocket, RealtimeSession>()
  let sessions = 0
  let refusing = false

  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    maxPayload: 16 * 1024 * 1024,
    verifyClient: () => !refusing,
  })
  await new Promise((resolve) => server.once('listening', resolve))

  const check = (schema: string, event: unknown) => {
    for (const problem of spec?.schema(schema, event) ?? []) problems.push(problem)
  }

  server.on('connection', (socket) => {
    sessions += 1
    const session = createRealtimeSession({
      number: sessions,
      script,
      send: (event) => {
        check('RealtimeServerEvent', event)
        if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(event))
      },
      problem: (text) => problems.push(text),
    })
    open.set(socket, session)
    socket.on('error', (error) => problems.push(error.message))
    socket.on('close', () => {
      session.stop()
      open.delete(socket)
    })
    socket.on('message', (data) => {
      const event = JSON.parse(data.toString()) as ClientMessage
      check('RealtimeClientEvent', event)
      if (event.type === 'input_audio_buffer.append') audio.push(Buffer.from(String(event.audio), 'base64'))
      else received.push(event)
      session.receive(event)
    })
  })

  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/v1/realtime?model=double`,
    received,
    appended: () => Buffer.concat(audio),
    problems,
    sessions: () => sessions,
    drop() {
      for (const socket of open.keys()) socket.terminate()
    },
    hang() {
      for (const session of open.values()) session.stop()
    },
    refuse(on) {
      refusing = on
    },
    complain(code) {
      for (const session of open.values()) session.complain(code, `scripted: ${code}`)
    },
    async close() {
      for (const socket of open.keys()) socket.terminate()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
