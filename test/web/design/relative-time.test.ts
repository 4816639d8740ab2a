import { expect, test } from 'vitest'
import { relativeText } from '../../../web/src/design/format.ts'

/** Takes local times, because the calendar day depends on the browser's time zone. */
const from = (now: string, at: string) => relativeText(new Date(at).toISOString(), new Date(now))

test('counts hours within the same day', () => {
  expect(from('2026-06-10T08:00', '2026-06-10T21:00')).toBe('in 13 hours')
  expect(from('2026-06-10T21:00', '2026-06-10T08:00')).toBe('13 hours ago')
})

test('counts calendar days rather than periods of 24 hours', () => {
  expect(from('2026-06-10T08:00', '2026-06-11T21:00')).toBe('tomorrow')
  expect(from('2026-06-10T20:00', '2026-06-12T02:00')).toBe('in 2 days')
  expect(from('2026-06-10T08:00', '2026-06-08T22:00')).toBe('2 days ago')
  expect(from('2026-06-10T22:00', '2026-06-09T08:00')).toBe('yesterday')
})

test('counts days up to a few weeks, even across the end of a month', () => {
  expect(from('2026-06-01T08:00', '2026-06-20T08:00')).toBe('in 19 days')
  expect(from('2026-06-30T08:00', '2026-06-11T08:00')).toBe('19 days ago')
})

test('counts months within a year, and years from twelve months on', () => {
  expect(from('2026-02-01T08:00', '2026-08-20T08:00')).toBe('in 7 months')
  expect(from('2026-08-20T08:00', '2026-02-01T08:00')).toBe('7 months ago')
  expect(from('2026-02-01T08:00', '2027-02-01T08:00')).toBe('in 1 year')
  expect(from('2026-02-01T08:00', '2028-01-31T08:00')).toBe('in 2 years')
})

test('counts minutes and hours, and shows a few seconds as now', () => {
  expect(from('2026-06-10T08:00:00', '2026-06-10T08:00:10')).toBe('now')
  expect(from('2026-06-10T08:00:10', '2026-06-10T08:00:00')).toBe('just now')
  expect(from('2026-06-10T08:00', '2026-06-10T08:25')).toBe('in 25 minutes')
  expect(from('2026-06-10T08:00', '2026-06-10T09:00')).toBe('in 1 hour')
  expect(relativeText('some day', new Date())).toBe('')
})
