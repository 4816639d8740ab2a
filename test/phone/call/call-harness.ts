import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { type Bridge, startBridge } from '../../../src/phone/call/bridge.ts'
import { type CallFact, type CallLimits, defaultLimits } from '../../../src/phone/call/call-state.ts'
import { loadPhrases } from '../../../src/phone/call/phrases.ts'
import type { CallMind } from '../../../src/phone/call/ports.ts'
import { callPrompts } from '../../../src/phone/call/prompts.ts'
import { connectRealtime, textSocket } from '../../../src/phone/call/ws-sockets.ts'
import { createCallSlot } from '../../../src/phone/line/call-slot.ts'
import { createStreamAcceptor } from '../../../src/phone/line/stream-acceptor.ts'
import { type RealtimeDouble, startRealtimeDouble } from '../../doubles/realtime/realtime-double.ts'
import type { Script } from '../../doubles/realtime/session.ts'
import {
  type MediaStreamClient,
  openMediaStream,
} from '../../doubles/telephony-stream/media-stream-client.ts'

/** Recorded speech; see test/audio/README.md. */
export function speech(name: string): Buffer {
  return readFileSync(new URL(`../../audio/${name}.ulaw`, import.meta.url))
}

/** A script whose replies and utterances are all alike, except for `given`. */
export function script(given: Partial<Script> = {}): Script {
  return {
    reply: () => ({ audio: speech('reply-train'), transcript: TRAIN }),
    words: () => 'When does my train to Lisbon leave tomorrow?',
    counters: { replies: 0, utterances: 0 },
    ...given,
  }
}

export const TRAIN = 'Your train to Lisbon leaves at nine fifteen from platform four.'

export type Call = {
  readonly model: RealtimeDouble
  readonly caller: MediaStreamClient
  readonly bridge: Bridge
  readonly facts: readonly CallFact[]
  readonly log: readonly string[]
  readonly endings: readonly string[]
  readonly hungUp: readonly string[]
  /** Ids of the finished responses, in order. */
  readonly responses: readonly string[]
  /** The keys that the caller pressed. */
  readonly keys: readonly string[]
  factsOf<T extends CallFact['type']>(type: T): Extract<CallFact, { type: T }>[]
  close(): Promise<void>
}

/**
 * A call over real sockets, with doubles of the provider and the model around the real acceptor and bridge.
 */
export async function connectCall(options: {
  readonly script?: Script
  readonly mind?: Partial<CallMind>
  readonly limits?: Partial<CallLimits>
  /** How many times faster than real time. */
  readonly factor?: number
}): Promise<Call> {
  const model = await startRealtimeDouble(options.script ?? script())
  const slot = createCallSlot({ nowMs: () => performance.now() })
  const facts: CallFact[] = []
  const log: string[] = []
  const endings: string[] = []
  const hungUp: string[] = []
  const responses: string[] = []
  const keys: string[] = []
  const phrases = await loadPhrases()
  const bridged = Promise.withResolvers<Bridge>()
  const mind: CallMind = {
    plan: async () => ({
      instructions: 'You are the delegate.',
      history: [
        { role: 'inner', text: '<capsule>They talked about Lisbon.</capsule>' },
        { role: 'caller', text: 'I will go to Lisbon.' },
        { role: 'delegate', text: 'Shall I look up the train?' },
      ],
      tools: [{ name: 'lookup', description: 'Looks something up.', parameters: { type: 'object' } }],
      voice: 'marin',
      transcriptionModel: 'gpt-4o-mini-transcribe',
    }),
    recall: async () => null,
    runTool: async () => 'nothing found',
    responded: (response) => responses.push(response.responseId),
    ...options.mind,
  }
  const acceptor = createStreamAcceptor({
    slot,
    refused: (reason) => log.push(`stream refused: ${reason}`),
    accepted: (call, line) => {
      bridged.resolve(
        startBridge({
          call: {
            callSid: call.callSid,
            streamSid: line.streamSid,
            medium: line.medium,
            party: call.party,
            ...callPrompts,
            delimit: (label, text) => `<data label="${label}">${text}</data>`,
            phrases,
            limits: { ...defaultLimits, ...options.limits },
          },
          line,
          connect: connectRealtime({ url: model.url, headers: {} }),
          mind,
          record: (batch) => facts.push(...batch),
          hangUp: async (callSid) => {
            hungUp.push(callSid)
          },
          pressed: (key) => keys.push(key),
          epochMs: Date.now,
          log: (message, detail) => log.push(`${message}: ${detail}`),
          changed: () => undefined,
          ended: () => {
            for (const fact of facts) if (fact.type === 'call.ended') endings.push(fact.facts.reason)
            slot.release(call.callSid)
          },
        }),
      )
    },
  })
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, maxPayload: 64 * 1024 })
  await new Promise((resolve) => server.once('listening', resolve))
  server.on('connection', (socket) => acceptor.accept(textSocket(socket), { isSigned: false }))

  const reservation = slot.reserve({
    callSid: 'CA1',
    isNamed: true,
    accountSid: 'AC1',
    party: 'owner',
    attestation: 'none',
    from: '+14155550100',
  })
  const caller = await openMediaStream({
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/call`,
    callSid: 'CA1',
    token: reservation.status === 'reserved' ? reservation.token : '',
    factor: options.factor ?? 5,
  })
  return {
    model,
    caller,
    bridge: await bridged.promise,
    facts,
    log,
    endings,
    hungUp,
    responses,
    keys,
    factsOf: <T extends CallFact['type']>(type: T) =>
      facts.filter((fact): fact is Extract<CallFact, { type: T }> => fact.type === type),
    async close() {
      caller.drop()
      await model.close()
      for (const socket of server.clients) socket.terminate()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
