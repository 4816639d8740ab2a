import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createCallSlot } from '../../../src/phone/line/call-slot.ts'
import { createSocketDoor, type StreamSocket } from '../../../src/phone/line/socket-door.ts'
import { createRelayLine, type RelayLine } from '../../../src/phone/relay/relay-line.ts'
import { CUT_SHORT, relayIntroduction } from '../../../src/phone/relay/relay-messages.ts'

let slot: ReturnType<typeof createCallSlot>
let refused: string[]
let relay: RelayLine | null
let heard: unknown[]

beforeEach(() => {
  vi.useFakeTimers()
  slot = createCallSlot({ nowMs: () => performance.now() })
  refused = []
  relay = null
  heard = []
})
afterEach(() => void vi.useRealTimers())

function openSocket() {
  let handlers: Parameters<StreamSocket['listen']>[0] | undefined
  const sent: unknown[] = []
  const closed: (number | undefined)[] = []
  const socket: StreamSocket = {
    send: (text) => sent.push(JSON.parse(text)),
    close: (code) => closed.push(code),
    bufferedBytes: 0,
    listen: (given) => {
      handlers = given
    },
  }
  const door = createSocketDoor({
    slot,
    introduced: relayIntroduction,
    refused: (reason) => refused.push(reason),
    accepted(_call, accepted, { sessionId }) {
      if (relay === null) {
        relay = createRelayLine({
          callSid: 'CA1',
          sessionId,
          nowMs: () => performance.now(),
          log: () => undefined,
        })
        relay.line.listen({
          media: (frame) => heard.push(JSON.parse(Buffer.from(frame, 'base64').toString())),
          mark: (name) => heard.push(`mark ${name}`),
          key: (key) => heard.push(`key ${key}`),
          resumed: () => heard.push('resumed'),
          ended: (how) => heard.push(how),
        })
      }
      return relay.attach(accepted)
    },
  })
  door.accept(socket, { isSigned: true })
  return {
    sent,
    closed,
    receive: (message: unknown) =>
      handlers?.message(typeof message === 'string' ? message : JSON.stringify(message)),
    break: () => handlers?.closed(),
  }
}

function reserve(): string {
  const reservation = slot.reserve({
    ...{ callSid: 'CA1', isNamed: true, accountSid: 'AC1', party: 'owner', attestation: 'none', from: '+1' },
  })
  return reservation.status === 'reserved' ? reservation.token : ''
}

const setup = (given: object = {}) => ({
  ...{
    type: 'setup',
    sessionId: 'VX1',
    accountSid: 'AC1',
    callSid: 'CA1',
    from: '+1',
    to: '+2',
    direction: 'inbound',
  },
  ...given,
})

test('takes only a setup with the token of the call, for the same call and account, in time', () => {
  expect(openSocket().closed).toEqual([1008])
  const token = reserve()
  const customParameters = { token }
  for (const first of [
    'no JSON',
    { type: 'prompt', voicePrompt: 'Hello', last: true },
    setup(),
    setup({ customParameters: { token: 'guessed' } }),
    setup({ customParameters, callSid: 'CA2' }),
    setup({ customParameters, accountSid: 'AC2' }),
  ]) {
    const socket = openSocket()
    socket.receive(first)
    expect(socket.closed).toEqual([1008])
  }
  const late = openSocket()
  vi.advanceTimersByTime(5_001)
  expect(late.closed).toEqual([1008])
  expect(relay).toBe(null)
  const socket = openSocket()
  socket.receive(setup({ customParameters }))
  expect(socket.closed).toEqual([])
  // The token is used up.
  const again = openSocket()
  again.receive(setup({ customParameters }))
  expect(again.closed).toEqual([1008])
  expect(refused).toEqual([
    ...[
      'nothing_reserved',
      'not_a_start',
      'not_a_start',
      'wrong_token',
      'wrong_token',
      'wrong_call',
      'wrong_call',
    ],
    ...['no_start', 'nothing_reserved'],
  ])
})

function connected() {
  const token = reserve()
  const socket = openSocket()
  socket.receive(setup({ customParameters: { token } }))
  if (relay === null) throw new Error('not accepted')
  return { socket, line: relay.line, relay }
}
const words = (text: string) => Buffer.from(text, 'utf16le').toString('base64')

test('speaks the documented protocol, and reports what was heard before the caller counts as speaking', () => {
  const { socket, line } = connected()
  line.sendMedia(words('Hello '))
  line.sendMark('0')
  line.sendMedia(words('there.'))
  line.sendMark('1')
  line.sendMedia('')
  line.sendMark('2')
  expect(socket.sent).toEqual([
    { type: 'text', token: 'Hello ', last: false },
    { type: 'text', token: 'there.', last: false },
    { type: 'text', token: '', last: true },
  ])
  socket.receive({ type: 'interrupt', utteranceUntilInterrupt: 'Hello', durationUntilInterruptMs: '460' })
  socket.receive({ type: 'prompt', voicePrompt: 'Wait', lang: 'en-US', last: false })
  socket.receive({ type: 'prompt', voicePrompt: 'Wait a moment.', lang: 'en-US', last: true })
  socket.receive({ type: 'dtmf', digit: '5' })
  socket.receive({ type: 'error', description: 'Invalid message received, code: 64107, my secret' })
  socket.receive({ type: 'something new' })
  expect(heard).toEqual(['mark 0', null, 'Wait a moment.', 'key 5'])
  line.close()
  expect(socket.sent.at(-1)).toEqual({ type: 'end', handoffData: CUT_SHORT })
  socket.break()
  expect(heard).toHaveLength(4)
})

test('takes a noise that no words follow as nothing said', () => {
  const { socket } = connected()
  socket.receive({ type: 'interrupt', utteranceUntilInterrupt: '' })
  vi.advanceTimersByTime(5_001)
  expect(heard).toEqual([null, ''])
})

test('continues on another socket within fifteen seconds, and ends the call after them', () => {
  const { socket } = connected()
  socket.break()
  vi.advanceTimersByTime(14_000)
  const token = slot.renew('CA1') ?? ''
  const next = openSocket()
  next.receive(setup({ customParameters: { token }, sessionId: 'VX2' }))
  expect(heard).toEqual(['resumed'])
  next.receive({ type: 'prompt', voicePrompt: 'Hello?', last: true })
  // Nothing that still arrives on the old socket counts.
  socket.receive({ type: 'prompt', voicePrompt: 'Ghost', last: true })
  expect(heard.slice(1)).toEqual([null, 'Hello?'])
  next.break()
  vi.advanceTimersByTime(15_001)
  expect(heard.at(-1)).toBe('closed')
})
