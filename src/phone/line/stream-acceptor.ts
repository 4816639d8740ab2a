import type { CallLine } from '../call/ports.ts'
import type { CallSlot, OfferedCall } from './call-slot.ts'
import { TOKEN_PARAMETER } from './markup.ts'
import { type MediaFrame, parseFrame, streamFrames } from './media-stream.ts'

/** Default time limit for a socket to present its token. */
const START_DEADLINE_MS = 5_000
/** Limit of unsigned sockets that wait for their start. The oldest is refused. */
const MAX_WAITING = 16

const REFUSED = 1008

/** An open text WebSocket. */
export type StreamSocket = {
  send(text: string): void
  close(code?: number, reason?: string): void
  readonly bufferedBytes: number
  listen(handlers: { message(text: string): void; closed(): void }): void
}

/**
 * Accepts a media stream only if it starts in time with the token of the reservation, for the same call and
 * account. Closes any other with 1008, and at once if nothing is reserved.
 */
export function createStreamAcceptor(options: {
  readonly slot: CallSlot
  readonly startDeadlineMs?: number | undefined
  readonly accepted: (call: OfferedCall, line: CallLine) => void
  readonly refused: (reason: string) => void
}) {
  const { slot, startDeadlineMs = START_DEADLINE_MS } = options
  const waiting = new Set<(reason: string) => void>()

  return {
    /** Takes over a socket that was just opened. A signed one does not count against MAX_WAITING. */
    accept(socket: StreamSocket, { isSigned }: { readonly isSigned: boolean }): void {
      const listeners: Partial<Parameters<CallLine['listen']>[0]> = {}
      let state: 'waiting' | 'live' | 'over' = 'waiting'
      let streamSid = ''

      const settle = (next: 'live' | 'over') => {
        clearTimeout(deadline)
        waiting.delete(refuse)
        state = next
      }
      const refuse = (reason: string) => {
        if (state !== 'waiting') return
        settle('over')
        socket.close(REFUSED, reason)
        options.refused(reason)
      }
      const deadline = setTimeout(() => refuse('no_start'), startDeadlineMs).unref()

      const start = (frame: Extract<MediaFrame, { event: 'start' }>) => {
        const { callSid, accountSid, customParameters } = frame.start
        const token = customParameters[TOKEN_PARAMETER] ?? ''
        const claim = slot.claim({ callSid, accountSid, token })
        if (claim.status === 'refused') {
          refuse(claim.reason)
          return
        }
        streamSid = frame.start.streamSid
        settle('live')
        options.accepted(claim.call, createLine(socket, callSid, streamSid, listeners))
      }
      const live = (frame: MediaFrame) => {
        if (frame.event === 'connected' || frame.streamSid !== streamSid) return
        if (frame.event === 'media') listeners.media?.(frame.media.payload, frame.media.timestamp)
        else if (frame.event === 'mark') listeners.mark?.(frame.mark.name)
        else if (frame.event === 'dtmf') listeners.key?.(frame.dtmf.digit)
        else if (frame.event === 'stop') listeners.ended?.('stopped')
      }

      socket.listen({
        message(text) {
          if (state === 'over') return
          const frame = parseFrame(text)
          if (state === 'live') {
            if (frame) live(frame)
          } else if (frame?.event === 'start') start(frame)
          else if (frame?.event !== 'connected') refuse('not_a_start')
        },
        closed() {
          if (state === 'waiting') settle('over')
          state = 'over'
          listeners.ended?.('closed')
        },
      })

      const holder = slot.holder()
      if (holder === null || holder.connected) {
        refuse('nothing_reserved')
        return
      }
      if (isSigned) return
      waiting.add(refuse)
      const [oldest] = waiting
      if (waiting.size > MAX_WAITING) oldest?.('too_many_waiting')
    },
  }
}

function createLine(
  socket: StreamSocket,
  callSid: string,
  streamSid: string,
  listeners: Partial<Parameters<CallLine['listen']>[0]>,
): CallLine {
  const frames = streamFrames(streamSid)
  return {
    callSid,
    streamSid,
    sendMedia: (payload) => socket.send(frames.media(payload)),
    sendMark: (name) => socket.send(frames.mark(name)),
    sendClear: () => socket.send(frames.clear()),
    close: () => socket.close(1000),
    get bufferedBytes() {
      return socket.bufferedBytes
    },
    listen: (handlers) => {
      Object.assign(listeners, handlers)
    },
  }
}
