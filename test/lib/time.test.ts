import { expect, test } from 'vitest'
import { toInstant } from '../../src/lib/time.ts'

const instantOf = (text: string, timezone = 'Europe/Berlin') =>
  toInstant(text, timezone)?.toISOString() ?? null

test('reads a time with an offset as that instant, one without as local, and moves skipped times on', () => {
  expect(instantOf('2028-02-29T10:00:00Z')).toBe('2028-02-29T10:00:00.000Z')
  expect(instantOf('2026-07-01t10:00:00.25+0530')).toBe('2026-07-01T04:30:00.250Z')
  expect(instantOf('2026-12-31 23:30-03:00')).toBe('2027-01-01T02:30:00.000Z')
  expect(instantOf('2026-07-01T10:00')).toBe('2026-07-01T08:00:00.000Z')
  expect(instantOf('2026-07-01')).toBe('2026-06-30T22:00:00.000Z')
  expect(instantOf('2026-03-29T02:30')).toBe('2026-03-29T01:30:00.000Z')
  expect(instantOf('2026-10-25T02:30')).toBe('2026-10-25T00:30:00.000Z')
  expect(instantOf('2040-01-19T03:14:08')).toBe('2040-01-19T02:14:08.000Z')
})

test.each([
  '2027-02-30T10:00:00',
  '2027-02-30T10:00:00Z',
  '2027-02-29T10:00:00+01:00',
  '2027-13-01T10:00:00Z',
  '2027-01-01T25:00:00Z',
  '2027-01-01T10:00:75Z',
  '2027-01-01T10:00:00+01:75',
  'Monday 2027 10:00 +01:00',
  'Tea 1 Z',
  '+012345-01-01T00:00:00Z',
  '9999-12-31T23:00:00-05:00',
])('rejects %s', (text) => {
  expect(instantOf(text)).toBeNull()
})
