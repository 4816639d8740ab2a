/** The timeout of `until`, unrelated to any promise of the service. */
const GIVE_UP_MS = 60_000
export const FRAME_MS = 20

/** Something received on a line or played to the caller, in the time of the call. */
export type Heard =
  | { readonly type: 'audio'; readonly atMs: number; readonly bytes: Buffer }
  | { readonly type: 'clear'; readonly atMs: number; readonly droppedBytes: number }

/**
 * Somebody at the other end of a call. They send a frame every 20 ms and hear received audio in real time, or `factor`
 * times as fast. They return a mark once all audio before it was played. Their time stops while the process is
 * suspended, so that a call cannot end between two lines of a test.
 */
export function createCaller(options: {
  readonly factor: number
  readonly bytesPerMs: number
  /** One byte of silence. */
  readonly silence: number
  readonly sendFrame: (frame: Buffer, atMs: number) => void
  readonly returnMark: (name: string) => void
  /** The call is over. */
  readonly closed: Promise<unknown>
}) {
  const { factor, returnMark } = options
  const frameBytes = FRAME_MS * options.bytesPerMs
  const silence = Buffer.alloc(frameBytes, options.silence)
  const heard: Heard[] = []
  const toSay: { audio: Buffer; done: () => void }[] = []
  let queue: ({ audio: Buffer } | { mark: string })[] = []
  let frames = 0
  let waiters: { due: () => boolean; done: () => void }[] = []
  const nowMs = () => frames * FRAME_MS

  /** Returns the marks at the head of the queue: everything before them was played. */
  const returnPlayedMarks = () => {
    for (let head = queue[0]; head && 'mark' in head; head = queue[0]) {
      queue.shift()
      returnMark(head.mark)
    }
  }
  const play = () => {
    let room = frameBytes
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
    options.sendFrame(speech ? speech.audio.subarray(0, frameBytes) : silence, nowMs())
    if (!speech) return
    speech.audio = speech.audio.subarray(frameBytes)
    if (speech.audio.length > 0) return
    toSay.shift()
    speech.done()
  }

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
  void options.closed.then(() => clearInterval(clock))

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
    /** Audio arrived. */
    receive: (audio: Buffer) => void queue.push({ audio }),
    receiveMark(mark: string): void {
      queue.push({ mark })
      returnPlayedMarks()
    },
    /** Everything that was not played is dropped. Returns the marks among it. */
    clear(): readonly string[] {
      const dropped = queue
      queue = []
      let droppedBytes = 0
      for (const item of dropped) if ('audio' in item) droppedBytes += item.audio.length
      heard.push({ type: 'clear', atMs: nowMs(), droppedBytes })
      return dropped.flatMap((item) => ('mark' in item ? [item.mark] : []))
    },
    /** Queues speech, and silence otherwise. Resolves once all of it was sent. */
    say: (audio: Uint8Array) => new Promise<void>((done) => toSay.push({ audio: Buffer.from(audio), done })),
    /** Lets the call run for `ms` of its own time. */
    wait(ms: number): Promise<void> {
      const until = nowMs() + ms
      return when(`${ms} ms`, () => nowMs() >= until)
    },
    /** Resolves once the condition holds; rejects after a minute of real time, naming `what`. */
    until: when,
    /** The audio that the caller heard, without silence. */
    heardBytes: () => Buffer.concat(heard.flatMap((event) => (event.type === 'audio' ? [event.bytes] : []))),
    heard: heard as readonly Heard[],
    /** The duration of received audio that is not played yet. */
    queuedMs: () =>
      queue.reduce((sum, item) => sum + ('audio' in item ? item.audio.length / options.bytesPerMs : 0), 0),
    nowMs,
  }
}

export type Caller = ReturnType<typeof createCaller>
