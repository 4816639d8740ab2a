import { audioMedium } from '../call/medium.ts'
import type { CallLine } from '../call/ports.ts'
import type { OfferedCall } from './call-slot.ts'
import { TOKEN_PARAMETER } from './markup.ts'
import { type MediaFrame, parseFrame, streamFrames } from './media-stream.ts'
import { createSocketDoor, type DoorOptions, type StreamSocket } from './socket-door.ts'

/** Accepts the media stream of the reserved call. */
export function createStreamAcceptor(
  options: DoorOptions & { readonly accepted: (call: OfferedCall, line: CallLine) => void },
) {
  return createSocketDoor({
    ...options,
    introduced(text) {
      const frame = parseFrame(text)
      if (frame?.event === 'connected') return 'early'
      if (frame?.event !== 'start') return null
      const { callSid, accountSid, customParameters } = frame.start
      const token = customParameters[TOKEN_PARAMETER] ?? ''
      return { callSid, accountSid, token, streamSid: frame.streamSid }
    },
    accepted(call, socket, { callSid, streamSid }) {
      const listeners: Partial<Parameters<CallLine['listen']>[0]> = {}
      options.accepted(call, createLine(socket, callSid, streamSid, listeners))
      return {
        message(text) {
          const frame = parseFrame(text)
          if (frame && frame.event !== 'connected' && frame.streamSid === streamSid) pass(frame, listeners)
        },
        closed: () => listeners.ended?.('closed'),
      }
    },
  })
}

function pass(frame: MediaFrame, listeners: Partial<Parameters<CallLine['listen']>[0]>): void {
  if (frame.event === 'media') listeners.media?.(frame.media.payload, frame.media.timestamp)
  else if (frame.event === 'mark') listeners.mark?.(frame.mark.name)
  else if (frame.event === 'dtmf') listeners.key?.(frame.dtmf.digit)
  else if (frame.event === 'stop') listeners.ended?.('stopped')
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
    medium: audioMedium,
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
