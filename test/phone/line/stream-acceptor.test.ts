import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { CallLine } from '../../../src/phone/call/ports.ts'
import { createCallSlot } from '../../../src/phone/line/call-slot.ts'
import type { StreamSocket } from '../../../src/phone/line/socket-door.ts'
import { createStreamAcceptor } from '../../../src/phone/line/stream-acceptor.ts'

type Handlers = Parameters<StreamSocket['listen']>[0]

function openSocket() {
  let handlers: Handlers | undefined
  const sent: unknown[] = []
  const closed: { code: number | undefined; reason: string | undefined }[] = []
  const socket: StreamSocket = {
    send: (text) => sent.push(JSON.parse(text)),
    close: (code, reason) => closed.push({ code, reason }),
    bufferedBytes: 0,
    listen: (given) => {
      handlers = given
    },
  }
  return {
    socket,
    sent,
    closed,
    receive: (frame: unknown) => handlers?.message(JSON.stringify(frame)),
    hangUp: () => handlers?.closed(),
  }
}

let accepted: { callSid: string; line: CallLine }[]
let refused: string[]
let slot: ReturnType<typeof createCallSlot>
let acceptor: ReturnType<typeof createStreamAcceptor>

beforeEach(() => {
  vi.useFakeTimers()
  accepted = []
  refused = []
  slot = createCallSlot({ nowMs: () => 0 })
  acceptor = createStreamAcceptor({
    slot,
    accepted: (call, line) => accepted.push({ callSid: call.callSid, line }),
    refused: (reason) => refused.push(reason),
  })
})

afterEach(() => void vi.useRealTimers())

function reserve(callSid: string): string {
  const reservation = slot.reserve({
    callSid,
    isNamed: true,
    accountSid: 'AC1',
    party: 'owner',
    attestation: 'none',
    from: '+14155550100',
  })
  return reservation.status === 'reserved' ? reservation.token : ''
}

function accept(isSigned = false) {
  const opened = openSocket()
  acceptor.accept(opened.socket, { isSigned })
  return opened
}

const connected = { event: 'connected', protocol: 'Call', version: '1.0.0' }
const start = (callSid: string, token: string, streamSid = 'MZ1') => ({
  event: 'start',
  sequenceNumber: '1',
  streamSid,
  start: {
    accountSid: 'AC1',
    callSid,
    streamSid,
    tracks: ['inbound'],
    mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
    customParameters: { token },
  },
})

test('accepts a stream with the token of its call as a line', () => {
  const token = reserve('CA1')
  const stream = accept()
  stream.receive(connected)
  stream.receive(start('CA1', token))
  expect(accepted.map((call) => call.callSid)).toEqual(['CA1'])
  expect(vi.getTimerCount()).toBe(0)
  const heard: unknown[] = []
  accepted[0]?.line.listen({
    media: (payload, atMs) => heard.push(['media', payload, atMs]),
    mark: (name) => heard.push(['mark', name]),
    key: (key) => heard.push(['key', key]),
    ended: (how) => heard.push(['ended', how]),
  })
  stream.receive({ event: 'media', streamSid: 'MZ1', media: { timestamp: '40', payload: '//8=' } })
  stream.receive({ event: 'media', streamSid: 'MZ2', media: { timestamp: '60', payload: '//8=' } })
  stream.receive({ event: 'mark', streamSid: 'MZ1', mark: { name: '3' } })
  stream.receive({ event: 'dtmf', streamSid: 'MZ1', dtmf: { track: 'inbound_track', digit: '#' } })
  stream.receive({ event: 'dtmf', streamSid: 'MZ2', dtmf: { track: 'inbound_track', digit: '1' } })
  stream.receive({ event: 'nonsense' })
  stream.receive({ event: 'stop', streamSid: 'MZ1' })
  stream.hangUp()
  expect(heard).toEqual([
    ['media', '//8=', 40],
    ['mark', '3'],
    ['key', '#'],
    ['ended', 'stopped'],
    ['ended', 'closed'],
  ])
  expect(stream.closed).toEqual([])
})

test('speaks the provider’s protocol on the line', () => {
  const token = reserve('CA1')
  const stream = accept()
  stream.receive(start('CA1', token))
  const line = accepted[0]?.line
  line?.sendMedia('//8=')
  line?.sendMark('1')
  line?.sendClear()
  expect(stream.sent.map((frame) => (frame as { event: string }).event)).toEqual(['media', 'mark', 'clear'])
})

test.each([
  ['no token', (_token: string) => start('CA1', ''), 'wrong_token'],
  ['a wrong token', (_token: string) => start('CA1', 'guess'), 'wrong_token'],
  ['the token of another call', (token: string) => start('CA2', token), 'wrong_call'],
  ['audio before its start', (_token: string) => ({ event: 'media', streamSid: 'MZ1' }), 'not_a_start'],
  ['nonsense', (_token: string) => 'hello', 'not_a_start'],
])('closes a stream that presents %s with 1008, and still accepts the right one', (_what, frame, reason) => {
  const token = reserve('CA1')
  const forged = accept()
  forged.receive(frame(token))
  expect(forged.closed).toEqual([{ code: 1008, reason }])
  expect(refused).toEqual([reason])
  accept().receive(start('CA1', token))
  expect(accepted).toHaveLength(1)
})

test('times out a socket after five seconds without a start, with 1008', () => {
  reserve('CA1')
  const idle = accept()
  idle.receive(connected)
  vi.advanceTimersByTime(4_999)
  expect(idle.closed).toEqual([])
  vi.advanceTimersByTime(1)
  expect(idle.closed).toEqual([{ code: 1008, reason: 'no_start' }])
})

test('frees the place of a socket that closes before it starts, without counting a refusal', () => {
  const token = reserve('CA1')
  const gone = Array.from({ length: 16 }, () => accept())
  for (const socket of gone) socket.hangUp()
  expect(vi.getTimerCount()).toBe(0)
  const waiting = accept()
  for (let index = 1; index < 16; index += 1) accept()
  expect(refused).toEqual([])
  gone[0]?.receive(start('CA1', token))
  expect(accepted).toEqual([])
  waiting.receive(start('CA1', token))
  expect(accepted).toHaveLength(1)
  accepted[0]?.line.close()
  expect(waiting.closed).toMatchObject([{ code: 1000 }])
})

test('closes a socket at once while nothing is reserved or a call is live', () => {
  expect(accept().closed).toEqual([{ code: 1008, reason: 'nothing_reserved' }])
  const token = reserve('CA1')
  accept().receive(start('CA1', token))
  const second = accept()
  expect(second.closed).toEqual([{ code: 1008, reason: 'nothing_reserved' }])
  second.receive(start('CA1', token))
  expect(accepted).toHaveLength(1)
})

test('bounds memory under ten thousand sockets that never start, and still accepts the caller', () => {
  const token = reserve('CA1')
  const idle = Array.from({ length: 10_000 }, accept)
  expect(vi.getTimerCount()).toBeLessThanOrEqual(16)
  expect(idle.filter((socket) => socket.closed.length === 0).length).toBeLessThanOrEqual(16)
  accept().receive(start('CA1', token))
  expect(accepted).toHaveLength(1)
})

test('keeps the place of a socket that the provider signed in a flood of others', () => {
  const token = reserve('CA1')
  const signed = accept(true)
  for (let index = 0; index < 1_000; index += 1) accept()
  expect(refused.length).toBe(1_000 - 16)
  signed.receive(start('CA1', token))
  expect(accepted).toMatchObject([{ callSid: 'CA1' }])
  const late = accept(true)
  expect(late.closed).toEqual([{ code: 1008, reason: 'nothing_reserved' }])
})
