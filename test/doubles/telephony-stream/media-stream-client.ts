import { WebSocket } from 'ws'
import { type Caller, createCaller, FRAME_MS } from '../caller.ts'

export type MediaStreamClient = Omit<Caller, 'receive' | 'receiveMark' | 'clear'> & {
  /** Presses keys. The provider reports each in a message of its own. */
  press(keys: string): void
  /** Hangs up: sends `stop`, then closes the socket. */
  hangUp(): void
  /** Breaks the connection without a close frame. */
  drop(): void
  readonly closed: Promise<{ code: number; reason: string }>
}

/** The telephony provider's side of one call. On a clear it returns every pending mark. */
export async function openMediaStream(options: {
  readonly url: string
  readonly callSid: string
  readonly accountSid?: string
  readonly streamSid?: string
  readonly token: string
  readonly factor?: number
  readonly headers?: Record<string, string>
}): Promise<MediaStreamClient> {
  const { streamSid = 'MZ0123', accountSid = 'AC1', callSid, token, factor = 1 } = options
  const socket = new WebSocket(options.url, { headers: options.headers ?? {}, perMessageDeflate: false })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }))
  })
  let sequence = 0
  const send = (event: string, fields: Record<string, unknown>) => {
    if (socket.readyState !== WebSocket.OPEN) return
    sequence += 1
    socket.send(JSON.stringify({ event, sequenceNumber: String(sequence), streamSid, ...fields }))
  }
  const returnMark = (name: string) => send('mark', { mark: { name } })

  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  socket.on('error', () => socket.terminate())
  socket.send(JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }))
  send('start', {
    start: {
      accountSid,
      callSid,
      streamSid,
      tracks: ['inbound'],
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      customParameters: { token },
    },
  })

  const caller = createCaller({
    ...{ factor, returnMark, closed },
    bytesPerMs: 8,
    silence: 0xff,
    sendFrame(frame, atMs) {
      const media = { track: 'inbound', chunk: String(atMs / FRAME_MS + 1), timestamp: String(atMs) }
      send('media', { media: { ...media, payload: frame.toString('base64') } })
    },
  })
  socket.on('message', (data) => {
    const frame = JSON.parse(data.toString()) as {
      event: string
      streamSid: string
      media?: { payload: string }
      mark?: { name: string }
    }
    if (frame.streamSid !== streamSid) throw new Error(`a frame for the stream ${frame.streamSid}`)
    if (frame.media) caller.receive(Buffer.from(frame.media.payload, 'base64'))
    else if (frame.mark) caller.receiveMark(frame.mark.name)
    else if (frame.event === 'clear') for (const mark of caller.clear()) returnMark(mark)
  })

  return {
    ...caller,
    press: (keys) => {
      for (const digit of keys) send('dtmf', { dtmf: { track: 'inbound_track', digit } })
    },
    hangUp() {
      send('stop', { stop: { accountSid, callSid } })
      socket.close()
    },
    drop: () => socket.terminate(),
    closed,
  }
}
