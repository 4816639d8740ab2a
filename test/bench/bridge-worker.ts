import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { WebSocketServer } from 'ws'
import { talkSocketOf } from '../../src/http/routes/talk-socket.ts'
import { createBrowserLine } from '../../src/phone/browser/browser-line.ts'
import { startBridge } from '../../src/phone/call/bridge.ts'
import { defaultLimits } from '../../src/phone/call/call-state.ts'
import { loadPhrases } from '../../src/phone/call/phrases.ts'
import type { CallLine } from '../../src/phone/call/ports.ts'
import { callPrompts } from '../../src/phone/call/prompts.ts'
import { connectRealtime, textSocket } from '../../src/phone/call/ws-sockets.ts'
import { createCallSlot, type OfferedCall } from '../../src/phone/line/call-slot.ts'
import { createStreamAcceptor } from '../../src/phone/line/stream-acceptor.ts'
import { relay } from './relay.ts'

/**
 * The measured thread: on one event loop, the bridge (`/call`, or `/api/talk` for a browser) and, as the yardstick, a
 * bare relay (`/relay`).
 */
const { modelUrl, token } = workerData as { modelUrl: string; token: string }

const offered = {
  callSid: 'CA1',
  isNamed: true,
  accountSid: 'AC1',
  party: 'owner',
  attestation: 'none',
  from: '+14155550100',
} as const

const phrases = await loadPhrases()
const slot = createCallSlot({ nowMs: () => performance.now() })
const acceptor = createStreamAcceptor({
  // A fixed token: creating tokens is not measured.
  slot: {
    ...slot,
    holder: () => ({ call: offered, connected: false }),
    claim: (stream) =>
      stream.token === token
        ? { status: 'claimed', call: offered }
        : { status: 'refused', reason: 'wrong_token' },
  },
  refused: (reason) => {
    throw new Error(`the stream was refused: ${reason}`)
  },
  accepted: connect,
})

function connect(call: Pick<OfferedCall, 'callSid' | 'party'>, line: CallLine): void {
  startBridge({
    call: {
      callSid: call.callSid,
      streamSid: line.streamSid,
      medium: line.medium,
      party: call.party,
      ...callPrompts,
      delimit: (_label, text) => text,
      phrases,
      limits: { ...defaultLimits, silenceMs: Number.POSITIVE_INFINITY },
    },
    line,
    connect: connectRealtime({ url: modelUrl, headers: {} }),
    mind: {
      plan: async () => ({
        instructions: '',
        history: [],
        tools: [],
        voice: 'marin',
        transcriptionModel: 'none',
      }),
      recall: async () => null,
      runTool: async () => '',
      responded: () => undefined,
    },
    record: () => undefined,
    hangUp: async () => undefined,
    pressed: () => undefined,
    epochMs: Date.now,
    log: () => undefined,
    changed: () => undefined,
    ended: () => undefined,
  })
}

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
server.on('connection', (socket, request) => {
  if (request.url === '/relay') relay(socket, `${modelUrl}&relay`)
  else if (request.url === '/api/talk')
    connect(
      offered,
      createBrowserLine(talkSocketOf(socket), 'browser-1', () => performance.now()),
    )
  else acceptor.accept(textSocket(socket), { isSigned: false })
})
server.once('listening', () => parentPort?.postMessage((server.address() as AddressInfo).port))
