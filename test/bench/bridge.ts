import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { median, quantile } from './statistics.ts'

/** Milliseconds from the write on one socket to the arrival on the other. */
export type Delay = {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly wholeP99Ms: number
  readonly samples: number
}
export type Compared = {
  readonly bridge: Delay
  readonly relay: Delay
  readonly ratioP50: number
  readonly ratioP99: number
}
export type BridgeBench = {
  /** From the caller's frame to the model. */
  readonly frameToModel: Compared
  /** From the model's delta to the provider. */
  readonly deltaToLine: Compared
  /** From the model's speech event to the clear on the wire. */
  readonly speechToClear: Delay
}

/** Where the caller is: at a phone, or in a browser, whose frames are PCM in binary messages. */
export type Place = 'phone' | 'browser'

const FRAME_BYTES: Readonly<Record<Place, number>> = { phone: 160, browser: 960 }
const PATHS: Readonly<Record<Place, string>> = { phone: '/call', browser: '/api/talk' }
/** The interval between the four streams: each sends every 16 ms, denser than in a call. */
const TURN_MS = 4
const WARM_UP = 100
const WINDOW_SAMPLES = 5000 / (4 * TURN_MS)

/**
 * Measures the delay that the bridge adds, next to a bare relay on the same event loop. Messages alternate
 * between the two, so that both see the same machine.
 */
export async function benchBridge(options: {
  readonly seconds: number
  readonly place?: Place
}): Promise<BridgeBench> {
  const { place = 'phone' } = options
  const model = await startBenchModel()
  const token = 'bench'
  const worker = new Worker(new URL('./bridge-worker.ts', import.meta.url), {
    workerData: { modelUrl: model.url, token },
  })
  const failed = new Promise<never>((_, reject) => worker.once('error', reject))
  const port = await Promise.race([failed, new Promise<number>((resolve) => worker.once('message', resolve))])
  try {
    const lines = {
      relay: await openLine(`ws://127.0.0.1:${port}/relay`, place),
      bridge: await openLine(`ws://127.0.0.1:${port}${PATHS[place]}`, place),
    }
    if (place === 'phone') lines.bridge.start(token)
    await Promise.race([failed, model.ready])
    return await Promise.race([failed, measureBridge(lines, model, options)])
  } finally {
    await worker.terminate()
    model.close()
  }
}

/** The part of an upgrade request that identifies the socket. */
export type Upgrade = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

type Model = Awaited<ReturnType<typeof startBenchModel>>
type Line = Awaited<ReturnType<typeof openLine>>
type Way = 'bridge' | 'relay'

/**
 * Alternates between both ways. With `utteranceEveryRounds`, the caller speaks in between, as in a
 * conversation.
 */
export async function measureBridge(
  lines: Record<Way, Line>,
  model: Model,
  options: { readonly seconds: number; readonly utteranceEveryRounds?: number; readonly place?: Place },
): Promise<BridgeBench> {
  const { seconds, utteranceEveryRounds = Number.POSITIVE_INFINITY, place = 'phone' } = options
  const numbered = (round: number) => numberedFrame(round, FRAME_BYTES[place])
  const frames: Record<Way, number[]> = { bridge: [], relay: [] }
  const deltas: Record<Way, number[]> = { bridge: [], relay: [] }
  const rounds = Math.round((seconds * 1000) / (4 * TURN_MS))
  model.say({
    type: 'response.created',
    response: { id: 'r1', object: 'realtime.response', status: 'in_progress' },
  })
  for (let round = 0; round < rounds; round += 1) {
    for (const way of ['bridge', 'relay'] as const) {
      const payload = numbered(round)
      frames[way].push(await timed(model.arrival(way, payload), () => lines[way].speak(payload, round)))
      await pause()
      deltas[way].push(await timed(lines[way].arrival(payload), () => model.speak(way, payload)))
      await pause()
    }
    if (round > 0 && round % utteranceEveryRounds === 0) {
      model.say({ type: SPEECH_STARTED, event_id: 'e' })
      model.interrupted(round, WORDS)
      await pause()
    }
  }
  const clears: number[] = []
  for (let round = 0; round < Math.min(rounds, 500); round += 1) {
    clears.push(await timed(lines.bridge.cleared(), () => model.say({ type: SPEECH_STARTED, event_id: 'e' })))
    model.interrupted(rounds + round)
    const payload = numbered(round)
    await timed(lines.bridge.arrival(payload), () => model.speak('bridge', payload))
    await pause()
  }
  return {
    frameToModel: compare(frames),
    deltaToLine: compare(deltas),
    speechToClear: delay(clears),
  }
}

const WORDS = 'What was it about Maria, the garden and the blue umbrella near the old harbour?'
const SPEECH_STARTED = 'input_audio_buffer.speech_started'

/** A realtime service with just what the measurement needs: one socket of the bridge and one of the relay. */
export async function startBenchModel() {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const sockets: Partial<Record<Way, WebSocket>> = {}
  const arrivals = createArrivals()
  const ready = Promise.withResolvers<void>()
  let response = 1

  server.on('connection', (socket, request) => {
    const way: Way = request.url?.includes('relay') ? 'relay' : 'bridge'
    sockets[way] = socket
    socket.on('message', (data: RawData, isBinary: boolean) => {
      const at = performance.now()
      const text = isBinary ? base64Of(data) : data.toString()
      arrivals.arrived(way, text, at)
      if (text.includes('"session.update"')) {
        const format = { format: { type: text.includes('"audio/pcm"') ? 'audio/pcm' : 'audio/pcmu' } }
        const session = { type: 'realtime', audio: { input: format, output: format } }
        socket.send(JSON.stringify({ type: 'session.updated', session }))
        ready.resolve()
      }
    })
  })
  const send = (way: Way, event: object) => sockets[way]?.send(JSON.stringify(event))
  const ofItem = () => ({
    response_id: `r${response}`,
    item_id: `i${response}`,
    output_index: 0,
    content_index: 0,
  })

  return {
    url: `ws://127.0.0.1:${port}/?model=bench`,
    relayUrl: `ws://127.0.0.1:${port}/?model=bench&relay`,
    ready: ready.promise,
    /** Accepts a socket that was requested at the address of the text model. */
    take(asked: Upgrade, socket: Socket) {
      server.handleUpgrade(asked as IncomingMessage, socket, Buffer.alloc(0), (accepted) =>
        server.emit('connection', accepted, asked),
      )
    },
    arrival: (way: Way, payload: string) => arrivals.of(way, payload),
    say: (event: object) => send('bridge', event),
    speak: (way: Way, payload: string) =>
      send(way, { type: 'response.output_audio.delta', event_id: 'e', ...ofItem(), delta: payload }),
    /** Sends what follows an interruption, up to the next response. */
    interrupted(round: number, words?: string) {
      const id = `r${response}`
      send('bridge', { type: 'response.done', response: { id, status: 'cancelled', output: [] } })
      send('bridge', { type: 'input_audio_buffer.speech_stopped' })
      send('bridge', { type: 'input_audio_buffer.committed', item_id: `u${round}` })
      if (words !== undefined) {
        const type = 'conversation.item.input_audio_transcription.completed'
        send('bridge', { type, item_id: `u${round}`, content_index: 0, transcript: words })
      }
      response += 1
      send('bridge', { type: 'response.created', response: { id: `r${response}` } })
    },
    close() {
      for (const client of server.clients) client.terminate()
      server.close()
    },
  }
}

/** The caller's end: the provider, or a page. Returns marks at once, as if everything had been played. */
export async function openLine(
  url: string,
  place: Place = 'phone',
  headers: Readonly<Record<string, string>> = {},
) {
  const socket = new WebSocket(url, { perMessageDeflate: false, headers })
  const arrivals = createArrivals()
  const opened = Promise.withResolvers<void>()
  socket.on('message', (data: RawData, isBinary: boolean) => {
    const at = performance.now()
    const text = isBinary ? base64Of(data) : data.toString()
    arrivals.arrived('line', text, at)
    if (isBinary) return
    if (text === 'open') opened.resolve()
    if (text.includes('"event":"mark"')) socket.send(text)
    else if (text.includes('"talk.mark"')) socket.send(text.replace('talk.mark', 'talk.played'))
  })
  if (url.endsWith('/relay')) await opened.promise
  else await new Promise((resolve) => socket.once('open', resolve))

  return {
    start: (token: string) =>
      socket.send(
        JSON.stringify({
          event: 'start',
          streamSid: 'MZ1',
          start: {
            accountSid: 'AC1',
            callSid: 'CA1',
            streamSid: 'MZ1',
            mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
            customParameters: { token },
          },
        }),
      ),
    speak(payload: string, round: number) {
      if (place === 'browser') return socket.send(Buffer.from(payload, 'base64'))
      socket.send(
        JSON.stringify({
          event: 'media',
          sequenceNumber: String(round + 2),
          streamSid: 'MZ1',
          media: { track: 'inbound', chunk: String(round + 1), timestamp: String(round * 20), payload },
        }),
      )
    },
    arrival: (payload: string) => arrivals.of('line', payload),
    cleared: () => arrivals.of('line', place === 'phone' ? '"event":"clear"' : '"talk.clear"'),
  }
}

/** Promises of the time at which a message containing a text arrives. */
function createArrivals() {
  const awaited = new Map<string, { text: string; resolve: (at: number) => void }>()
  return {
    of: (end: string, text: string) => new Promise<number>((resolve) => awaited.set(end, { text, resolve })),
    arrived(end: string, text: string, at: number) {
      const waiting = awaited.get(end)
      if (!waiting || !text.includes(waiting.text)) return
      awaited.delete(end)
      waiting.resolve(at)
    },
  }
}

/** An audio frame that begins with its number, by which its arrival is recognised. */
function numberedFrame(round: number, bytes: number): string {
  const frame = Buffer.alloc(bytes, 0x7e)
  frame.writeUInt32BE(round)
  return frame.toString('base64')
}

/** A single buffer, as ws delivers it by default. */
const base64Of = (data: RawData): string => (data as Buffer).toString('base64')

async function timed(arrival: Promise<number>, send: () => void): Promise<number> {
  const from = performance.now()
  send()
  return (await arrival) - from
}

const pause = () => new Promise((resolve) => setTimeout(resolve, TURN_MS))

/**
 * `p99Ms` is the median of the p99 of windows of about five seconds, so that a few seconds of other load do
 * not decide it. `wholeP99Ms` covers all samples.
 */
function delay(all: readonly number[]): Delay {
  const samples = all.slice(WARM_UP)
  const count = Math.max(1, Math.floor(samples.length / WINDOW_SAMPLES))
  const windows = Array.from({ length: count }, (_, index) =>
    samples.slice(
      Math.round((index * samples.length) / count),
      Math.round(((index + 1) * samples.length) / count),
    ),
  )
  return {
    p50Ms: round3(quantile(samples, 0.5)),
    p99Ms: round3(median(windows.map((window) => quantile(window, 0.99)))),
    wholeP99Ms: round3(quantile(samples, 0.99)),
    samples: samples.length,
  }
}

function compare(measured: Record<Way, readonly number[]>): Compared {
  const bridge = delay(measured.bridge)
  const relay = delay(measured.relay)
  return {
    bridge,
    relay,
    ratioP50: round3(bridge.p50Ms / relay.p50Ms),
    ratioP99: round3(bridge.p99Ms / relay.p99Ms),
  }
}

const round3 = (value: number) => Math.round(value * 1000) / 1000

export function bridgeLines(result: BridgeBench): string[] {
  const ways = { 'frame → model': result.frameToModel, 'delta → line': result.deltaToLine }
  return [
    ...Object.entries(ways).map(
      ([name, { bridge, relay, ratioP50, ratioP99 }]) =>
        `${name}: p50 ${bridge.p50Ms} ms, p99 ${bridge.p99Ms} ms (of all ${bridge.wholeP99Ms}); relay ${relay.p50Ms}, ${relay.p99Ms} (${relay.wholeP99Ms}); ratio ${ratioP50}, ${ratioP99}`,
    ),
    `speech → clear: p50 ${result.speechToClear.p50Ms} ms, p99 ${result.speechToClear.p99Ms} ms`,
  ]
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean' },
      browser: { type: 'boolean', default: false },
      seconds: { type: 'string', default: '60' },
    },
  })
  const result = await benchBridge({
    seconds: Number(values.seconds),
    place: values.browser ? 'browser' : 'phone',
  })
  console.log(values.json ? JSON.stringify(result) : bridgeLines(result).join('\n'))
}
