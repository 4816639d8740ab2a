import { expect, test } from 'vitest'
import { holdsWords, toMatch } from '../../projections/search-text.ts'

test.each([
  ['garden ca', '"garden" "ca"'],
  ['garden car', '"garden" "car" *'],
  ['garden car ', '"garden" "car"'],
  ['"garden car"', '"garden car"'],
  ['wi-fi', '"wi fi"'],
  ['e-mail', '"e mail" *'],
  ['?!', null],
])('looks for %s as %s', (typed, match) => {
  expect(toMatch(typed)).toBe(match)
})

test('reads a beginning of three letters as longer words, and a shorter one as itself', () => {
  expect(holdsWords('gar', 'the garden')).toBe(true)
  expect(holdsWords('ga', 'the garden')).toBe(false)
  expect(holdsWords('the', 'in the garden')).toBe(true)
})
