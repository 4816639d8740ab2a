import { expect, test } from 'vitest'
import { toInstant, toLocalIso, zoneOffsetMs } from '../../src/lib/time.ts'

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

test("uses the zone's offset at the moment, and UTC for an unknown zone", () => {
  expect(zoneOffsetMs(Date.UTC(2026, 0, 1), 'Europe/Berlin')).toBe(3_600_000)
  expect(zoneOffsetMs(Date.UTC(2026, 6, 1), 'Europe/Berlin')).toBe(7_200_000)
  expect(zoneOffsetMs(Date.UTC(2026, 0, 1) + 123, 'America/St_Johns')).toBe(-12_600_000)
  expect(zoneOffsetMs(Date.UTC(1900, 0, 1), 'America/New_York')).toBe(-18_000_000)
  expect(zoneOffsetMs(Date.UTC(1800, 0, 1), 'America/New_York')).toBe(-17_762_000)
  expect(zoneOffsetMs(Date.UTC(2026, 0, 1), 'Nowhere/Else')).toBe(0)
})

test('writes an instant on the clock of the zone, as the same instant', () => {
  const at = new Date('2026-06-01T20:15:30.250Z')
  expect(['Asia/Kolkata', 'UTC', 'America/St_Johns'].map((zone) => toLocalIso(at, zone))).toEqual([
    '2026-06-02T01:45:30.250+05:30',
    '2026-06-01T20:15:30.250+00:00',
    '2026-06-01T17:45:30.250-02:30',
  ])
  expect(new Date(toLocalIso(at, 'Asia/Kolkata'))).toEqual(at)
})
