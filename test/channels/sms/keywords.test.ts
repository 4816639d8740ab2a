import { expect, test } from 'vitest'
import { keywordOf } from '../../../src/channels/sms/keywords.ts'

test.each([
  ['STOP', 'opt_out'],
  [' stopall\n', 'opt_out'],
  ['Cancel', 'opt_out'],
  ['unstop', 'opt_in'],
  ['INFO', 'help'],
  ['stop it', null],
  ['Please stop', null],
  ['', null],
] as const)('%j means %s to the provider', (text, keyword) => {
  expect(keywordOf(text, false)).toBe(keyword)
})

test('YES is an answer, but from a number that has opted out it opts in', () => {
  expect(keywordOf('Yes', false)).toBeNull()
  expect(keywordOf('Yes', true)).toBe('opt_in')
})

test('what the provider itself made of a text holds', () => {
  expect(keywordOf('arrêt', false, 'STOP')).toBe('opt_out')
})
