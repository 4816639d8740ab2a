import { browserMedium } from '../call/medium.ts'
import type { CallLine } from '../call/ports.ts'

/** The socket of a talk: audio in both directions as PCM, and what `TalkMessage` says. */
export type TalkSocket = {
  sendAudio(audio: Buffer): void
  send(message: TalkMessage): void
  close(): void
  readonly bufferedBytes: number
  /** `closed` is called at once if the socket is closed already. */
  listen(handlers: {
    audio(audio: Buffer): void
    /** Everything up to this mark was played. */
    played(mark: string): void
    /** `stopped`: the browser closed it. */
    closed(how: 'stopped' | 'closed'): void
  }): void
}

/** What a browser is told besides audio. */
export type TalkMessage =
  | { readonly type: 'talk.started'; readonly callSid: string }
  /** Reported back once the audio before it was played. */
  | { readonly type: 'talk.mark'; readonly mark: string }
  /** Drops all audio that was not played. */
  | { readonly type: 'talk.clear' }

/** How far audio may be ahead of time, as it is after a stall of the network. */
const MAX_AHEAD_MS = 30_000

/**
 * A browser as the line of a call. Audio that comes faster than time passes is dropped, because the model is paid by
 * its length.
 */
export function createBrowserLine(socket: TalkSocket, callSid: string, nowMs: () => number): CallLine {
  const { codec } = browserMedium
  return {
    callSid,
    streamSid: callSid,
    medium: browserMedium,
    sendMedia: (payload) => socket.sendAudio(Buffer.from(payload, 'base64')),
    sendMark: (mark) => socket.send({ type: 'talk.mark', mark }),
    sendClear: () => socket.send({ type: 'talk.clear' }),
    close: () => socket.close(),
    get bufferedBytes() {
      return socket.bufferedBytes
    },
    listen(handlers) {
      // A browser counts no time: its audio is continuous, and silent while it is muted.
      let receivedMs = 0
      let endsAtMs = 0
      socket.listen({
        audio(audio) {
          const ms = audio.length / codec.bytesPerMs
          const now = nowMs()
          const endMs = Math.max(endsAtMs, now) + ms
          if (endMs > now + MAX_AHEAD_MS) return
          endsAtMs = endMs
          handlers.media(audio.toString('base64'), receivedMs)
          receivedMs += ms
        },
        played: (mark) => handlers.mark(mark),
        closed: (how) => handlers.ended(how),
      })
    },
  }
}
