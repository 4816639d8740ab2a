import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { CallRow } from '../../../projections/calls.ts'
import type { CallLine } from '../../../src/phone/call/ports.ts'
import type { Offer } from '../../../src/phone/lifecycle/reception.ts'
import { createCallSlot, type OfferedCall } from '../../../src/phone/line/call-slot.ts'
import type { StreamSocket } from '../../../src/phone/line/socket-door.ts'
import { createRelays } from '../../../src/phone/relay/relays.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const OFFERED: OfferedCall = {
  ...{ callSid: 'CA1', isNamed: true, accountSid: 'AC1', party: 'owner', attestation: 'none', from: '+1' },
}

/** Relays whose provider is moved by hand. */
function setUp(attestation: OfferedCall['attestation'] = 'failed') {
  const slot = createCallSlot({ nowMs: () => performance.now() })
  const logged: string[] = []
  const happened: string[] = []
  const offers: OfferedCall[] = []
  const relays = createRelays({
    slot,
    startDeadlineMs: undefined,
    connect(_offered, line: CallLine) {
      line.listen({
        media: () => undefined,
        mark: () => undefined,
        key: () => undefined,
        resumed: () => happened.push('resumed'),
        ended: (how) => happened.push(how),
      })
    },
    async offer(call): Promise<Offer> {
      offers.push(call)
      const reserved = slot.reserve(call)
      if (reserved.status === 'busy') return reserved
      return { status: 'connect', token: reserved.token, publicUrl: 'https://test', carriage: 'relay' }
    },
    publicUrl: () => 'https://test',
    attestationOf: () => attestation,
    refused: () => undefined,
    logOf: (callSid) => (message, detail) => logged.push(`${callSid}: ${message}: ${detail}`),
    nowMs: () => performance.now(),
  })
  return {
    logged,
    happened,
    offers,
    relays,
    /** Opens a socket with this token. Returns how to break it, or null if it was refused. */
    open(token: string, sessionId: string): (() => void) | null {
      let handlers: Parameters<StreamSocket['listen']>[0] | undefined
      let isRefused = false
      const socket: StreamSocket = {
        send: () => undefined,
        close: () => {
          isRefused = true
        },
        bufferedBytes: 0,
        listen: (given) => {
          handlers = given
        },
      }
      relays.accept(socket, { isSigned: true })
      const setup = { type: 'setup', sessionId, callSid: 'CA1', accountSid: 'AC1' }
      handlers?.message(JSON.stringify({ ...setup, customParameters: { token } }))
      return isRefused ? null : () => handlers?.closed()
    },
    /** Connects a first relay. */
    dial() {
      const reserved = slot.reserve(OFFERED)
      return this.open(reserved.status === 'reserved' ? reserved.token : '', 'VX1')
    },
    /** The provider reports that a relay broke. Returns the token for another one. */
    async ask(sessionId: string): Promise<string | null> {
      const offer = await relays.resume(OFFERED, sessionId)
      return offer?.status === 'connect' ? offer.token : null
    },
  }
}

const row = (given: Partial<CallRow> = {}): CallRow => ({
  ...{ callSid: 'CA1', offeredSeq: 7, party: 'guest', number: '+1', conversationId: null, spanId: 'span' },
  ...{ offeredAt: '', connectedAt: '', endedAt: null, ...given },
})

test('a call that comes back after a crash has the party and the attestation of its first leg', async () => {
  const it = setUp('failed')
  it.relays.wereInterrupted([row()])
  await it.ask('VX1')
  expect(it.offers).toMatchObject([{ callSid: 'CA1~2', party: 'guest', attestation: 'failed' }])
})

test('a call that comes back after a crash is a guest’s if the number is not the owner’s any more', async () => {
  const it = setUp('full')
  it.relays.wereInterrupted([row({ party: 'owner' })])
  await it.relays.resume({ ...OFFERED, party: 'guest' }, 'VX1')
  expect(it.offers).toMatchObject([{ party: 'guest', attestation: 'full' }])
})

test('answers a repeated report of the same break with the same token', async () => {
  const it = setUp()
  it.dial()?.()
  const token = await it.ask('VX1')
  expect(token).not.toBe(null)
  for (let again = 0; again < 5; again += 1) expect(await it.ask('VX1')).toBe(token)
  expect(it.open(token ?? '', 'VX2')).not.toBe(null)
  expect(it.happened).toEqual(['resumed'])
  // The report is old now.
  expect(await it.ask('VX1')).toBe(null)
  const next = await it.ask('VX2')
  expect([null, token]).not.toContain(next)

  const restarted = setUp()
  restarted.relays.wereInterrupted([row()])
  const first = await restarted.ask('VX1')
  expect(first).not.toBe(null)
  expect(await restarted.ask('VX1')).toBe(first)
  expect(await restarted.ask('VX2')).toBe(null)
})

test('waits for a relay as long as it was promised, whenever the provider asked for it', async () => {
  const it = setUp()
  it.dial()?.()
  vi.advanceTimersByTime(14_000)
  const token = await it.ask('VX1')
  vi.advanceTimersByTime(14_000)
  expect(it.happened).toEqual([])
  expect(it.open(token ?? '', 'VX2')).not.toBe(null)
  expect(it.happened).toEqual(['resumed'])
})

test('logs that a call came back, may not come back or did not', async () => {
  const it = setUp()
  it.dial()?.()
  const token = await it.ask('VX1')
  const drop = it.open(token ?? '', 'VX2')
  await it.ask('VX1')
  drop?.()
  vi.advanceTimersByTime(15_001)
  expect(it.happened).toEqual(['resumed', 'closed'])
  expect(it.logged).toEqual([
    'CA1: a broken relay came back: VX2',
    'CA1: a broken relay may not come back: it is not the current one',
    'CA1: a broken relay did not come back: within 15 seconds',
  ])
})
