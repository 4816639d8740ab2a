import fc from 'fast-check'
import { expect, test } from 'vitest'
import { segmentsOf } from '../../src/text/segments.ts'

test.each([
  ['a'.repeat(160), 1],
  ['a'.repeat(161), 2],
  ['a'.repeat(306), 2],
  ['a'.repeat(307), 3],
  ['€'.repeat(80), 1],
  ['€'.repeat(81), 2],
  ['Zoë'.repeat(23), 1],
  [`${'ё'.repeat(70)}`, 1],
  [`${'ё'.repeat(71)}`, 2],
  ['👍'.repeat(35), 1],
  ['👍'.repeat(36), 2],
  // A character of two units is not split across segments.
  ['👍'.repeat(66), 2],
  ['👍'.repeat(67), 3],
  ['€'.repeat(152), 2],
  ['€'.repeat(153), 3],
  [`${'a'.repeat(152)}€${'a'.repeat(152)}`, 3],
  [`${'a'.repeat(152)}€${'a'.repeat(151)}`, 2],
])('counts the segments of %j', (text, segments) => {
  expect(segmentsOf(text)).toBe(segments)
})

test('never counts fewer segments for a longer text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (text, more) => {
      expect(segmentsOf(text + more)).toBeGreaterThanOrEqual(segmentsOf(text))
    }),
  )
})
