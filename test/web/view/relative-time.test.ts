import { expect, test } from 'vitest'
import { relativeText } from '../../../web/src/view/relative-time.ts'

/** Local times: which day something falls on is a matter of the browser's own clock. */
const from = (now: string, at: string) => relativeText(new Date(at).toISOString(), new Date(now))

test('what comes later on the same day is not tomorrow, and what was this morning was not yesterday', () => {
  expect(from('2026-06-10T08:00', '2026-06-10T21:00')).toBe('in 13 hours')
  expect(from('2026-06-10T21:00', '2026-06-10T08:00')).toBe('13 hours ago')
})

test('a day away is said by the calendar, not by how often 24 hours fit in between', () => {
  expect(from('2026-06-10T08:00', '2026-06-11T21:00')).toBe('tomorrow')
  expect(from('2026-06-10T20:00', '2026-06-12T02:00')).toBe('in 2 days')
  expect(from('2026-06-10T08:00', '2026-06-08T22:00')).toBe('2 days ago')
  expect(from('2026-06-10T22:00', '2026-06-09T08:00')).toBe('yesterday')
})

test('some weeks are days, wherever the month ends', () => {
  expect(from('2026-06-01T08:00', '2026-06-20T08:00')).toBe('in 19 days')
  expect(from('2026-06-30T08:00', '2026-06-11T08:00')).toBe('19 days ago')
})

test('what is half a year away in the same year is neither next year nor last year', () => {
  expect(from('2026-02-01T08:00', '2026-08-20T08:00')).toBe('in 7 months')
  expect(from('2026-08-20T08:00', '2026-02-01T08:00')).toBe('7 months ago')
  expect(from('2026-02-01T08:00', '2027-02-01T08:00')).toBe('in 1 year')
  expect(from('2026-02-01T08:00', '2028-01-31T08:00')).toBe('in 2 years')
})

test('minutes and hours are counted, and next to nothing is now', () => {
  expect(from('2026-06-10T08:00:00', '2026-06-10T08:00:10')).toBe('now')
  expect(from('2026-06-10T08:00:10', '2026-06-10T08:00:00')).toBe('just now')
  expect(from('2026-06-10T08:00', '2026-06-10T08:25')).toBe('in 25 minutes')
  expect(from('2026-06-10T08:00', '2026-06-10T09:00')).toBe('in 1 hour')
  expect(relativeText('some day', new Date())).toBe('')
})
