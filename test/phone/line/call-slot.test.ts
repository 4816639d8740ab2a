import { beforeEach, expect, test } from 'vitest'
import {
  type CallSlot,
  createCallSlot,
  nextLegOf,
  type OfferedCall,
} from '../../../src/phone/line/call-slot.ts'

let nowMs = 0
let slot: CallSlot

beforeEach(() => {
  nowMs = 1_000
  slot = createCallSlot({ nowMs: () => nowMs })
})

const call = (callSid: string, party: 'owner' | 'guest' = 'owner'): OfferedCall => ({
  callSid,
  isNamed: true,
  accountSid: 'AC1',
  party,
  attestation: 'none',
  from: '+14155550100',
})

function reserve(callSid: string, party?: 'owner' | 'guest'): string {
  const reservation = slot.reserve(call(callSid, party))
  if (reservation.status !== 'reserved') throw new Error('busy')
  return reservation.token
}

const claim = (callSid: string, token: string, accountSid = 'AC1') =>
  slot.claim({ callSid, accountSid, token })

test('gives one call the slot and refuses a second one as busy', () => {
  reserve('CA1')
  expect(slot.reserve(call('CA2'))).toEqual({ status: 'busy' })
  expect(slot.holder()).toMatchObject({ call: { callSid: 'CA1' }, connected: false })
})

test('accepts a token once', () => {
  const token = reserve('CA1')
  expect(token.length).toBeGreaterThanOrEqual(22)
  expect(claim('CA1', token)).toEqual({ status: 'claimed', call: call('CA1') })
  expect(claim('CA1', token)).toEqual({ status: 'refused', reason: 'nothing_reserved' })
})

test('accepts an unnamed call by its token, for its own account only', () => {
  const reservation = slot.reserve({ ...call('of our own making'), isNamed: false })
  const token = reservation.status === 'reserved' ? reservation.token : ''
  expect(claim('CA7', 'x')).toEqual({ status: 'refused', reason: 'wrong_token' })
  expect(claim('CA7', token, 'AC2')).toEqual({ status: 'refused', reason: 'wrong_call' })
  expect(claim('CA7', token).status).toBe('claimed')
})

test('refuses a wrong token, call or account, and still accepts the right stream', () => {
  const token = reserve('CA1')
  for (const wrong of ['', 'x', `${token}x`, token.toLowerCase()]) {
    expect(claim('CA1', wrong)).toEqual({ status: 'refused', reason: 'wrong_token' })
  }
  expect(claim('CA2', token)).toEqual({ status: 'refused', reason: 'wrong_call' })
  expect(claim('CA1', token, 'AC2')).toEqual({ status: 'refused', reason: 'wrong_call' })
  expect(claim('CA1', token).status).toBe('claimed')
})

test('expires a reservation and its token after 30 seconds without a stream', () => {
  const token = reserve('CA1')
  nowMs += 29_999
  expect(slot.holder()).not.toBeNull()
  nowMs += 1
  expect(slot.holder()).toBeNull()
  expect(claim('CA1', token)).toEqual({ status: 'refused', reason: 'nothing_reserved' })
  expect(slot.reserve(call('CA2')).status).toBe('reserved')
})

test('never expires a connected call', () => {
  claim('CA1', reserve('CA1'))
  nowMs += 3_600_000
  expect(slot.reserve(call('CA2'))).toEqual({ status: 'busy' })
})

test('gives a retry of the same call the same token until it is connected', () => {
  const token = reserve('CA1')
  expect(reserve('CA1')).toBe(token)
  claim('CA1', token)
  expect(slot.reserve(call('CA1'))).toEqual({ status: 'busy' })
})

test('releases the slot for the call that holds it, repeatedly, and for no other', () => {
  claim('CA1', reserve('CA1'))
  expect(slot.release('CA2')).toBe(false)
  expect(slot.release('CA1')).toBe(true)
  expect(slot.release('CA1')).toBe(false)
  expect(slot.reserve(call('CA2')).status).toBe('reserved')
})

test('lets the owner take the slot from a guest, whose end does not free it', () => {
  claim('CA1', reserve('CA1', 'guest'))
  expect(slot.reserve(call('CA2', 'guest'))).toEqual({ status: 'busy' })
  expect(slot.reserve(call('CA3', 'owner'))).toMatchObject({
    status: 'reserved',
    evicted: { callSid: 'CA1' },
  })
  expect(slot.release('CA1')).toBe(false)
  expect(slot.reserve(call('CA4', 'owner'))).toEqual({ status: 'busy' })
})

test('never repeats a token', () => {
  const tokens = new Set<string>()
  for (let index = 0; index < 50; index += 1) {
    tokens.add(reserve(`CA${index}`))
    slot.release(`CA${index}`)
  }
  expect(tokens.size).toBe(50)
})

test('gives a connected call a new token, which a repeated webhook does not get', () => {
  const first = reserve('CA1')
  expect(slot.renew('CA2')).toBe(null)
  expect(claim('CA1', first).status).toBe('claimed')
  const second = slot.renew('CA1') ?? ''
  expect(slot.reserve(call('CA1'))).toEqual({ status: 'busy' })
  expect(slot.reserve(call('CA2'))).toEqual({ status: 'busy' })
  expect(claim('CA1', first)).toEqual({ status: 'refused', reason: 'wrong_token' })
  expect(claim('CA1', second).status).toBe('claimed')
})

test('knows the legs of a call by the provider’s id', () => {
  const leg = nextLegOf(nextLegOf('CA1'))
  expect(leg).toBe('CA1~3')
  const token = reserve(leg)
  expect(claim('CA2', token)).toEqual({ status: 'refused', reason: 'wrong_call' })
  expect(claim('CA1', token).status).toBe('claimed')
})
