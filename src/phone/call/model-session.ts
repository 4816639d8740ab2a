import type { Codec } from './codec.ts'
import type { CallLog, ConnectModel, SessionPlan } from './ports.ts'
import { type ClientEvent, parseServerEvent, type ServerEvent } from './realtime-protocol.ts'
import { sessionOpening } from './session-config.ts'

export type ModelSession = ReturnType<typeof openModelSession>

/**
 * Opens one session with the realtime model. Makes the plan while the socket connects, and configures the
 * session once both are ready. Calls `lost` at most once.
 */
export function openModelSession(options: {
  readonly connect: ConnectModel
  readonly plan: (signal: AbortSignal) => Promise<SessionPlan>
  readonly codec: Codec
  readonly said: (event: ServerEvent) => void
  /** The service sent an event that calls do not use. */
  readonly alive: () => void
  readonly lost: () => void
  readonly log: CallLog
}) {
  const abort = new AbortController()
  const opened = Promise.withResolvers<void>()
  let over = false

  const finish = (detail: string | null) => {
    if (over) return
    over = true
    abort.abort()
    socket.close()
    if (detail === null) return
    options.log('realtime session lost', detail)
    options.lost()
  }

  const socket = options.connect({
    opened: () => opened.resolve(),
    message(text) {
      if (over) return
      const parsed = parseServerEvent(text)
      if (parsed.status === 'event') options.said(parsed.event)
      else if (parsed.status === 'ignored') options.alive()
      else options.log('malformed realtime event', parsed.detail)
    },
    closed: (detail) => finish(detail),
  })

  let instructions = ''
  /** Instructions of a response replace those of the session (OpenAI: RealtimeClientEventResponseCreate). */
  const whole = (event: ClientEvent): ClientEvent => {
    if (event.type !== 'response.create' || !event.response?.instructions) return event
    const { response } = event
    return {
      ...event,
      response: { ...response, instructions: `${instructions}\n\n${response.instructions}` },
    }
  }
  const send = (event: ClientEvent) => socket.send(JSON.stringify(whole(event)))
  const configure = async () => {
    const [plan] = await Promise.all([options.plan(abort.signal), opened.promise])
    if (over) return
    instructions = plan.instructions
    for (const event of sessionOpening(plan, options.codec)) send(event)
  }
  configure().catch((error: unknown) => finish(`no session plan: ${String(error)}`))

  return {
    send,
    sendAudio: (base64: string) => send({ type: 'input_audio_buffer.append', audio: base64 }),
    get bufferedBytes(): number {
      return socket.bufferedBytes
    },
    /** Idempotent. No callback is called afterwards. */
    close: () => finish(null),
  }
}
