import { expect, test } from 'vitest'
import { endOf } from '../../src/tasks/clean-text.ts'

test('cuts a text between characters, also where one takes two code units', () => {
  expect(endOf('😀'.repeat(10), 6)).toBe('…😀😀')
  expect(endOf('😀'.repeat(3), 6)).toBe('😀😀😀')
})

test('begins the end of a text with a whole word', () => {
  expect(endOf('It is a sentence that ends well', 14)).toBe('…ends well')
})
