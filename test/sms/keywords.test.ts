import { expect, test } from 'vitest'
import { keywordOf } from '../../src/sms/keywords.ts'

test.each([
  ['STOP', 'opt_out'],
  [' stopall\n', 'opt_out'],
  ['Cancel', 'opt_out'],
  ['unstop', 'opt_in'],
  ['INFO', 'help'],
  ['stop it', null],
  ['Please stop', null],
  ['', null],
] as const)('reads %j as %s', (text, keyword) => {
  expect(keywordOf(text, false)).toBe(keyword)
})

test('reads YES as an opt-in only from a number that has opted out', () => {
  expect(keywordOf('Yes', false)).toBeNull()
  expect(keywordOf('Yes', true)).toBe('opt_in')
})

test('trusts the keyword that the provider reports', () => {
  expect(keywordOf('arrêt', false, 'STOP')).toBe('opt_out')
})
