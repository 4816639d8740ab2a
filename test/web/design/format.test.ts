import { expect, test } from 'vitest'
import { durationText } from '../../../web/src/design/format.ts'

test('rounds durations without showing 60 seconds', () => {
  expect(durationText(999.7)).toBe('1 s')
  expect(durationText(59_400)).toBe('59.4 s')
  expect(durationText(59_980)).toBe('1 min')
  expect(durationText(119_600)).toBe('2 min')
  expect(durationText(100_000)).toBe('1 min 40 s')
})
