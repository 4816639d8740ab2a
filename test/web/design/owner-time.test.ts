import { expect, test } from 'vitest'
import { instantOf, wallMinute } from '../../../web/src/design/owner-time.ts'

test.each([
  ['Asia/Tokyo', '2026-06-10T08:00', '2026-06-09T23:00:00.000Z'],
  ['Europe/Berlin', '2026-03-29T01:30', '2026-03-29T00:30:00.000Z'],
  ['Europe/Berlin', '2026-03-29T03:30', '2026-03-29T01:30:00.000Z'],
  ['America/New_York', '2026-11-01T12:00', '2026-11-01T17:00:00.000Z'],
])('converts between %s wall time %s and %s', (zone, wall, at) => {
  expect(instantOf(wall, zone)?.toISOString()).toBe(at)
  expect(wallMinute(new Date(at), zone)).toBe(wall)
})

test('returns null for an empty wall time', () => {
  expect(instantOf('', 'UTC')).toBeNull()
})
