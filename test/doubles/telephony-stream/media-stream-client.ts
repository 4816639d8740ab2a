import { WebSocket } from 'ws'

const FRAME_BYTES = 160
const FRAME_MS = 20
/** The timeout of `until`, unrelated to any promise of the service. */
const GIVE_UP_MS = 60_000
const SILENCE = Buffer.alloc(FRAME_BYTES, 0xff)

/** Something received on the stream or played to the caller, in the time of the call. */
export type Heard =
  | { readonly type: 'audio'; readonly atMs: number; readonly bytes: Buffer }
  | { readonly type: 'clear'; readonly atMs: number; readonly droppedBytes: number }

export type MediaStreamClient = {
  /** Queues speech, and silence otherwise. Resolves once all of it was sent. */
  say(audio: Uint8Array): Promise<void>
  /** Presses keys. The provider reports each in a message of its own. */
  press(keys: string): void
  /** Lets the call run for `ms` of its own time. */
  wait(ms: number): Promise<void>
  /** Resolves once the condition holds; rejects after a minute of real time, naming `what`. */
  until(what: string, condition: () => boolean): Promise<void>
  /** The audio that the caller heard, without silence. */
  heardBytes(): Buffer
  readonly heard: readonly Heard[]
  /** The duration of received audio that is not played yet. */
  queuedMs(): number
  nowMs(): number
  /** Hangs up: sends `stop`, then closes the socket. */
  hangUp(): void
  /** Breaks the connection without a close frame. */
  drop(): void
  readonly closed: Promise<{ code: number; reason: string }>
}

/**
 * The telephony provider's side of one call. It sends a frame every 20 ms and plays received audio in real
 * time, or `factor` times as fast. It returns a mark once all audio before it was played, and every pending
 * mark on a clear. Its time stops while the process is suspended, so that a call cannot end between two
 * lines of a test.
 */
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
  const heard: Heard[] = []
  const toSay: { audio: Buffer; done: () => void }[] = []
  let queue: ({ audio: Buffer } | { mark: string })[] = []
  let sequence = 0
  let frames = 0
  let waiters: { due: () => boolean; done: () => void }[] = []

  const nowMs = () => frames * FRAME_MS
  const send = (event: string, fields: Record<string, unknown>) => {
    if (socket.readyState !== WebSocket.OPEN) return
    sequence += 1
    socket.send(JSON.stringify({ event, sequenceNumber: String(sequence), streamSid, ...fields }))
  }
  const returnMark = (name: string) => send('mark', { mark: { name } })

  /** Returns the marks at the head of the queue: everything before them was played. */
  const returnPlayedMarks = () => {
    for (let head = queue[0]; head && 'mark' in head; head = queue[0]) {
      queue.shift()
      returnMark(head.mark)
    }
  }
  const play = () => {
    let room = FRAME_BYTES
    const pieces: Buffer[] = []
    for (let head = queue[0]; head && room > 0; head = queue[0]) {
      queue.shift()
      if ('mark' in head) {
        returnMark(head.mark)
        continue
      }
      pieces.push(head.audio.subarray(0, room))
      if (head.audio.length > room) queue.unshift({ audio: head.audio.subarray(room) })
      room -= Math.min(room, head.audio.length)
    }
    returnPlayedMarks()
    if (pieces.length > 0) heard.push({ type: 'audio', atMs: nowMs(), bytes: Buffer.concat(pieces) })
  }
  const speak = () => {
    const speech = toSay[0]
    const frame = speech ? speech.audio.subarray(0, FRAME_BYTES) : SILENCE
    const media = { track: 'inbound', chunk: String(frames + 1), timestamp: String(nowMs()) }
    send('media', { media: { ...media, payload: frame.toString('base64') } })
    if (!speech) return
    speech.audio = speech.audio.subarray(FRAME_BYTES)
    if (speech.audio.length > 0) return
    toSay.shift()
    speech.done()
  }

  socket.on('message', (data) => {
    const frame = JSON.parse(data.toString()) as {
      event: string
      streamSid: string
      media?: { payload: string }
      mark?: { name: string }
    }
    if (frame.streamSid !== streamSid) throw new Error(`a frame for the stream ${frame.streamSid}`)
    if (frame.media) queue.push({ audio: Buffer.from(frame.media.payload, 'base64') })
    else if (frame.mark) {
      queue.push({ mark: frame.mark.name })
      returnPlayedMarks()
    } else if (frame.event === 'clear') {
      const dropped = queue
      queue = []
      let droppedBytes = 0
      for (const item of dropped) {
        if ('mark' in item) returnMark(item.mark)
        else droppedBytes += item.audio.length
      }
      heard.push({ type: 'clear', atMs: nowMs(), droppedBytes })
    }
  })

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

  const tickMs = Math.max(1, FRAME_MS / factor)
  const maxStep = Math.ceil((tickMs * factor) / FRAME_MS) + 1
  let dueFrames = 0
  let lastMs = performance.now()
  const clock = setInterval(() => {
    const now = performance.now()
    dueFrames += Math.min(maxStep, ((now - lastMs) * factor) / FRAME_MS)
    lastMs = now
    for (; frames + 1 <= dueFrames; frames += 1) {
      speak()
      play()
    }
    const met = waiters.filter((waiter) => waiter.due())
    waiters = waiters.filter((waiter) => !met.includes(waiter))
    for (const waiter of met) waiter.done()
  }, tickMs)
  void closed.then(() => clearInterval(clock))

  const when = (what: string, due: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`timed out waiting for: ${what}`)), GIVE_UP_MS)
      const done = () => {
        clearTimeout(timer)
        resolve()
      }
      waiters.push({ due, done })
    })

  return {
    say: (audio) => new Promise((done) => toSay.push({ audio: Buffer.from(audio), done })),
    press: (keys) => {
      for (const digit of keys) send('dtmf', { dtmf: { track: 'inbound_track', digit } })
    },
    wait: (ms) => {
      const until = nowMs() + ms
      return when(`${ms} ms`, () => nowMs() >= until)
    },
    until: when,
    heardBytes: () => Buffer.concat(heard.flatMap((event) => (event.type === 'audio' ? [event.bytes] : []))),
    heard,
    queuedMs: () => queue.reduce((sum, item) => sum + ('audio' in item ? item.audio.length / 8 : 0), 0),
    nowMs,
    hangUp() {
      send('stop', { stop: { accountSid, callSid } })
      socket.close()
    },
    drop: () => socket.terminate(),
    closed,
  }
}
