import webhooks from 'twilio/lib/webhooks/webhooks.js'
import { openMediaStream } from '../doubles/telephony-stream/media-stream-client.ts'
import { createClient } from '../http/client.ts'
import { script, speech } from '../phone/call/call-harness.ts'
import { startPhoneDoubles } from '../phone/phone-doubles.ts'
import { ACCOUNT, AUTH_TOKEN, createProvider, OWNER, PUBLIC_URL, tokenOf } from '../phone/provider.ts'
import { startServiceProcess } from './service-process.ts'
import { clientFrame, type Flood, floodCallSocket, fragmentStorm, residentMiB } from './sockets.ts'

export type FloodReport = {
  readonly idle: Flood
  readonly duringCall: Flood
  readonly storms: Flood
  readonly residentMiB: { readonly before: number; readonly peak: number; readonly after: number }
  /** Facts that the floods left; only aggregates are allowed. */
  readonly aggregates: number
  readonly flaws: readonly string[]
}

/**
 * Heap limit of the service, about twice what it needs: what a flood leaves behind must fit in the rest, or
 * the service dies. Without a limit, the engine collects no garbage while memory is available.
 */
const HEAP_MIB = 128
/** Memory that a flood may add while its sockets close, and that may remain afterwards. */
const PEAK_MIB = 192
const LEFT_MIB = 112
const STORM_FRAGMENTS = 70_000
const OVERSIZE_BYTES = 65 * 1024
const SETTLE_MS = 2_000

/**
 * Floods the call socket of a service in its own process: with sockets that never start, first while no call
 * is expected, then during a call, which must connect. Endless fragments and oversized frames follow.
 */
export async function floodCalls(options: {
  readonly directory: string
  readonly sockets: number
  readonly atOnce: number
}): Promise<FloodReport> {
  const { sockets, atOnce } = options
  const reply = { audio: speech('caller-thanks'), transcript: 'Hello.' }
  const doubles = await startPhoneDoubles(script({ reply: () => reply }))
  const service = startServiceProcess(options.directory, {
    ...doubles.environment,
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
  })
  const flaws: string[] = []
  let sampling: NodeJS.Timeout | undefined
  try {
    const port = await service.listening
    const client = createClient(port)
    await client.post('/api/install', {
      password: 'a long walk by the river',
      setupCode: service.setupCode(),
    })
    const types = async () =>
      ((await client.get('/api/timeline?limit=5000')).json.events as { type: string }[]).map(
        ({ type }) => type,
      )
    const pid = service.child.pid ?? 0
    // Warms up: the first sockets load code, and the recall thread would start in the middle of the flood.
    await floodCallSocket({ port, count: Math.min(500, sockets), atOnce })
    await client.get('/api/timeline/search?q=anything')
    await pause(SETTLE_MS)
    const before = residentMiB(pid)
    let peak = before
    sampling = setInterval(() => {
      peak = Math.max(peak, residentMiB(pid))
    }, 50)

    const factsBefore = await types()
    const idle = await floodCallSocket({ port, count: sockets, atOnce })
    const left = (await types()).slice(factsBefore.length)
    for (const type of new Set(left)) {
      if (type !== 'intrusion.counted') flaws.push(`sockets that never start left a ${type}`)
    }

    const markup = (await createProvider(port).ring('CA1', OWNER)).text
    const flooding = floodCallSocket({ port, count: sockets, atOnce })
    await pause(300)
    const url = `ws://127.0.0.1:${port}/call`
    const signature = webhooks.getExpectedTwilioSignature(
      AUTH_TOKEN,
      `${PUBLIC_URL.replace('http', 'ws')}/call`,
      {},
    )
    const caller = await openMediaStream({
      url,
      callSid: 'CA1',
      accountSid: ACCOUNT,
      token: tokenOf(markup),
      headers: { 'x-twilio-signature': signature },
    })
    await caller
      .until('the greeting is heard in the flood', () => caller.heardBytes().length > 1_000)
      .catch((error: unknown) => flaws.push(String(error)))
    const duringCall = await flooding

    const oversize = clientFrame({ opcode: 1, isFinal: true, payload: Buffer.alloc(OVERSIZE_BYTES, 'x') })
    await createProvider(port).post('/voice-status', { CallSid: 'CA1', CallStatus: 'completed' })
    await caller.closed
    await createProvider(port).ring('CA2', OWNER)
    const count = Math.max(20, Math.round(sockets / 50))
    const [fragments, frames] = [
      await floodCallSocket({ port, count, atOnce: 16, says: fragmentStorm(STORM_FRAGMENTS) }),
      await floodCallSocket({ port, count, atOnce: 16, says: oversize }),
    ]
    await createProvider(port).post('/voice-status', { CallSid: 'CA2', CallStatus: 'canceled' })
    await pause(SETTLE_MS)
    const after = residentMiB(pid)
    if (peak > before + PEAK_MIB) flaws.push(`memory went from ${before} to ${peak} MiB`)
    if (after > before + LEFT_MIB) flaws.push(`memory stayed at ${after} MiB, from ${before}`)

    const next = (await createProvider(port).ring('CA3', OWNER)).text
    const last = await openMediaStream({
      url,
      callSid: 'CA3',
      accountSid: ACCOUNT,
      token: tokenOf(next),
      factor: 5,
    })
    await last
      .until('the next call is greeted', () => last.heardBytes().length > 1_000)
      .catch((error: unknown) => flaws.push(String(error)))
    last.hangUp()
    await last.closed
    return {
      idle,
      duringCall,
      storms: {
        opened: fragments.opened + frames.opened,
        closed: fragments.closed + frames.closed,
        mostOpen: Math.max(fragments.mostOpen, frames.mostOpen),
      },
      residentMiB: { before, peak, after },
      aggregates: left.length,
      flaws,
    }
  } finally {
    clearInterval(sampling)
    await service.kill()
    await doubles.close()
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
