import { beforeEach, expect, test } from 'vitest'
import { type CallSlot, createCallSlot, type OfferedCall } from '../../../src/channels/telephony/call-slot.ts'

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
  from: '+14155550100',
})

function reserve(callSid: string, party?: 'owner' | 'guest'): string {
  const reservation = slot.reserve(call(callSid, party))
  if (reservation.status !== 'reserved') throw new Error('busy')
  return reservation.token
}

const claim = (callSid: string, token: string, accountSid = 'AC1') =>
  slot.claim({ callSid, accountSid, token })

test('one call takes the slot, a second one is told that it is busy', () => {
  reserve('CA1')
  expect(slot.reserve(call('CA2'))).toEqual({ status: 'busy' })
  expect(slot.holder()).toMatchObject({ call: { callSid: 'CA1' }, connected: false })
})

test('the token opens the stream once', () => {
  const token = reserve('CA1')
  expect(token.length).toBeGreaterThanOrEqual(22)
  expect(claim('CA1', token)).toEqual({ status: 'claimed', call: call('CA1') })
  expect(claim('CA1', token)).toEqual({ status: 'refused', reason: 'nothing_reserved' })
})

test('a call that nobody named is whichever brings its token, and for its account alone', () => {
  const reservation = slot.reserve({ ...call('of our own making'), isNamed: false })
  const token = reservation.status === 'reserved' ? reservation.token : ''
  expect(claim('CA7', 'x')).toEqual({ status: 'refused', reason: 'wrong_token' })
  expect(claim('CA7', token, 'AC2')).toEqual({ status: 'refused', reason: 'wrong_call' })
  expect(claim('CA7', token).status).toBe('claimed')
})

test('a wrong token, another call and another account are refused, and the rightful stream still gets in', () => {
  const token = reserve('CA1')
  for (const wrong of ['', 'x', `${token}x`, token.toLowerCase()]) {
    expect(claim('CA1', wrong)).toEqual({ status: 'refused', reason: 'wrong_token' })
  }
  expect(claim('CA2', token)).toEqual({ status: 'refused', reason: 'wrong_call' })
  expect(claim('CA1', token, 'AC2')).toEqual({ status: 'refused', reason: 'wrong_call' })
  expect(claim('CA1', token).status).toBe('claimed')
})

test('a reservation whose stream never comes is free after 30 seconds, and its token is worth nothing', () => {
  const token = reserve('CA1')
  nowMs += 29_999
  expect(slot.holder()).not.toBeNull()
  nowMs += 1
  expect(slot.holder()).toBeNull()
  expect(claim('CA1', token)).toEqual({ status: 'refused', reason: 'nothing_reserved' })
  expect(slot.reserve(call('CA2')).status).toBe('reserved')
})

test('a connected call does not expire', () => {
  claim('CA1', reserve('CA1'))
  nowMs += 3_600_000
  expect(slot.reserve(call('CA2'))).toEqual({ status: 'busy' })
})

test('the provider’s retry of the same call gets the same token; once connected, busy', () => {
  const token = reserve('CA1')
  expect(reserve('CA1')).toBe(token)
  claim('CA1', token)
  expect(slot.reserve(call('CA1'))).toEqual({ status: 'busy' })
})

test('the slot is released by the call that holds it, any number of times, and by no other', () => {
  claim('CA1', reserve('CA1'))
  expect(slot.release('CA2')).toBe(false)
  expect(slot.release('CA1')).toBe(true)
  expect(slot.release('CA1')).toBe(false)
  expect(slot.reserve(call('CA2')).status).toBe('reserved')
})

test('the owner takes the slot from a guest; the guest’s end does not free it', () => {
  claim('CA1', reserve('CA1', 'guest'))
  expect(slot.reserve(call('CA2', 'guest'))).toEqual({ status: 'busy' })
  expect(slot.reserve(call('CA3', 'owner'))).toMatchObject({
    status: 'reserved',
    evicted: { callSid: 'CA1' },
  })
  expect(slot.release('CA1')).toBe(false)
  expect(slot.reserve(call('CA4', 'owner'))).toEqual({ status: 'busy' })
})

test('tokens do not repeat', () => {
  const tokens = new Set<string>()
  for (let index = 0; index < 50; index += 1) {
    tokens.add(reserve(`CA${index}`))
    slot.release(`CA${index}`)
  }
  expect(tokens.size).toBe(50)
})
