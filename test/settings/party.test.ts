import { expect, test } from 'vitest'
import { attestationOf, isWithheld, partyOf } from '../../src/settings/party.ts'

const ownerNumbers = ['+14155550100', '+442071838750']

test('recognises each of the owner’s numbers', () => {
  for (const from of ownerNumbers) expect(partyOf({ from, ownerNumbers, signed: true })).toBe('owner')
})

test.each([
  ['unknown', '+14155550199'],
  ['empty', ''],
  ['anonymous', 'anonymous'],
  ['the end of the owner’s number', '4155550100'],
  ['the owner’s number with a suffix', '+141555501001'],
  ['the owner’s number inside another', '+9914155550100'],
  ['padded', ' +14155550100'],
  ['a SIP address of the owner’s number', 'sip:+14155550100@example.com'],
  ['another client', 'client:owner2'],
  ['a client in capitals', 'client:Owner'],
])('treats a caller as a guest whose number is %s', (_what, from) => {
  expect(partyOf({ from, ownerNumbers, signed: true })).toBe('guest')
})

test('trusts the voice client as the owner only if the provider signed it', () => {
  expect(partyOf({ from: 'client:owner', ownerNumbers, signed: true })).toBe('owner')
  expect(partyOf({ from: 'client:owner', ownerNumbers, signed: false })).toBe('guest')
})

test('treats everybody as a guest while no number is set', () => {
  for (const from of ['', '+14155550100']) {
    expect(partyOf({ from, ownerNumbers: [], signed: true })).toBe('guest')
  }
})

test.each([
  ['', '   '],
  ['anonymous', 'ANONYMOUS', ' anonymous '],
  ['blocked', 'private', 'Restricted', 'unavailable', 'Unknown'],
  ['+266696687', '+2562533', '+7378742833', '+7378742883', '+86282452253', '+8656696'],
])('recognises a withheld number: %j', (...ways) => {
  expect(ways.filter((from) => !isWithheld(from))).toEqual([])
})

test('does not treat a number, a client or a sender’s name as withheld', () => {
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

test.each([
  ['TN-Validation-Passed-A', 'full'],
  ['TN-Validation-Passed-A-Diverted', 'partial'],
  ['TN-Validation-Passed-B', 'partial'],
  ['TN-Validation-Passed-C', 'gateway'],
  ['TN-Validation-Failed-A', 'failed'],
  ['TN-Validation-Failed', 'failed'],
  ['No-TN-Validation', 'none'],
  ['', 'none'],
])('reads the verdict %j as %s', (verdict, attestation) => {
  expect(attestationOf('+14155550100', verdict)).toBe(attestation)
  expect(attestationOf('client:owner', verdict)).toBe('client')
})
