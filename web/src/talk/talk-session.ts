import type { TalkServerMessage } from '../../../src/http/contract/speech.ts'
import { Explained } from '../api/explained.ts'
import { Refused } from '../api/http.ts'
import { msg } from '../design/msg.ts'
import {
  type Microphone,
  microphoneLost,
  openMicrophone,
  openPlayer,
  PLAYED_RATE,
  type Player,
} from './audio.ts'

/** A slow network must not delay the words by more: what is older is dropped. */
const mostUnsentBytes = 96_000

export type TalkSession = {
  readonly callSid: string
  mute(muted: boolean): void
  close(): void
}

/**
 * Opens the microphone and a talk with the service. `interrupted`: what was not played is dropped. `ended`: the socket
 * closed, by either side, or the microphone is lost, which `why` says. Throws Explained, or Refused with the reason of
 * the service.
 */
export async function startTalk(options: {
  readonly signal: AbortSignal
  readonly interrupted: () => void
  readonly ended: (why?: string) => void
}): Promise<TalkSession> {
  const { signal } = options
  let microphone: Microphone | null = null
  let player: Player | null = null
  let socket: WebSocket | null = null

  /** Idempotent: the closed socket calls it, too. */
  function close(): void {
    microphone?.close()
    player?.close()
    socket?.close()
    microphone = null
    player = null
  }
  function sendAudio(frame: ArrayBuffer): void {
    if (socket?.readyState === WebSocket.OPEN && socket.bufferedAmount < mostUnsentBytes) socket.send(frame)
  }
  function played(mark: string): void {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'talk.played', mark }))
  }

  signal.addEventListener('abort', close)
  try {
    // The socket comes last, so that no call begins without ears.
    let hear: (frame: ArrayBuffer) => void = () => undefined
    microphone = await openMicrophone(PLAYED_RATE, (frame) => hear(frame))
    player = await openPlayer(played)
    signal.throwIfAborted()
    const opened = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/talk`)
    opened.binaryType = 'arraybuffer'
    socket = opened
    const started = Promise.withResolvers<string>()
    const speaker = player
    opened.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data !== 'string') return speaker.play(data)
      const message: TalkServerMessage = JSON.parse(data)
      if (message.type === 'talk.mark') speaker.mark(message.mark)
      else if (message.type === 'talk.started') started.resolve(message.callSid)
      else if (message.type === 'talk.refused') started.reject(new Refused(message.problem, null))
      else {
        speaker.clear()
        options.interrupted()
      }
    })
    opened.addEventListener('close', () => started.reject(new Explained(lost)))
    const callSid = await started.promise
    hear = sendAudio
    const end = (why?: string) => {
      close()
      options.ended(why)
    }
    opened.addEventListener('close', () => end())
    void microphone.lost.then(() => end(microphoneLost))
    return { callSid, mute: (muted) => microphone?.mute(muted), close }
  } catch (error) {
    close()
    throw error
  }
}

const lost = msg`The talk could not be connected. If Delegate is behind a proxy, it must forward WebSockets on /api/talk.`
