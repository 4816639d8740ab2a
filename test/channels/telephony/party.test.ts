import { expect, test } from 'vitest'
import { isWithheld, parseOwnerNumbers, partyOf } from '../../../src/channels/telephony/party.ts'

const ownerNumbers = parseOwnerNumbers('+14155550100, +442071838750')

test('the setting may list several numbers; what is no number is not listed', () => {
  expect(ownerNumbers).toEqual(['+14155550100', '+442071838750'])
  expect(parseOwnerNumbers(' 4155550100; +1 , anonymous,+012345678')).toEqual([])
  expect(parseOwnerNumbers('')).toEqual([])
})

test('each of the owner’s numbers is the owner', () => {
  for (const from of ownerNumbers) expect(partyOf({ from, ownerNumbers, signed: true })).toBe('owner')
})

test.each([
  ['unknown', '+14155550199'],
  ['empty', ''],
  ['anonymous', 'anonymous'],
  ['the end of the owner’s number', '4155550100'],
  ['the owner’s number with more behind it', '+141555501001'],
  ['the owner’s number within another', '+9914155550100'],
  ['padded', ' +14155550100'],
  ['dressed as SIP', 'sip:+14155550100@example.com'],
  ['another client', 'client:owner2'],
  ['a client in capitals', 'client:Owner'],
])('a caller who is %s is a guest', (_what, from) => {
  expect(partyOf({ from, ownerNumbers, signed: true })).toBe('guest')
})

test('the voice client is the owner only where the provider signed it', () => {
  expect(partyOf({ from: 'client:owner', ownerNumbers, signed: true })).toBe('owner')
  expect(partyOf({ from: 'client:owner', ownerNumbers, signed: false })).toBe('guest')
})

test('while no number is set, everybody is a guest, the nameless included', () => {
  for (const from of ['', '+14155550100']) {
    expect(partyOf({ from, ownerNumbers: [], signed: true })).toBe('guest')
  }
})

test.each([
  ['', '   '],
  ['anonymous', 'ANONYMOUS', ' anonymous '],
  ['blocked', 'private', 'Restricted', 'unavailable', 'Unknown'],
  ['+266696687', '+2562533', '+7378742833', '+7378742883', '+86282452253', '+8656696'],
])('what the provider gives for a withheld number is nobody’s number: %j', (...ways) => {
  expect(ways.filter((from) => !isWithheld(from))).toEqual([])
})

test('a number, a client and a sender’s name are somebody’s', () => {
  for (const from of [
    '+14155550100',
    '+2666966870',
    'client:owner',
    'sip:ada@example.com',
    'ACME',
    '24273',
  ]) {
    expect(isWithheld(from)).toBe(false)
  }
})
