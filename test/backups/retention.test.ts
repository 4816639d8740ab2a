import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keptOf, lastDue, lastExpiry, nextDue } from '../../src/backups/retention.ts'

const ZONE = 'Europe/Berlin'
const DAY_MS = 86_400_000
const keep = { daily: 3, weekly: 2, monthly: 2 }

const at = (createdAt: string) => ({ name: createdAt, createdAt })
/** One a day at 3 in the morning in Berlin, ending with a day. */
const daily = (last: string, count: number) =>
  Array.from({ length: count }, (_, index) =>
    at(new Date(Date.parse(`${last}T02:00:00.000Z`) - index * DAY_MS).toISOString()),
  )
const days = (names: ReadonlySet<string>) => [...names].map((name) => name.slice(0, 10))

test('keeps the newest backup of each of the last days, weeks and months', () => {
  // 26 November 2026 is a Thursday.
  expect(days(keptOf(daily('2026-11-26', 60), keep, ZONE))).toEqual([
    '2026-11-26',
    '2026-11-25',
    '2026-11-24',
    '2026-11-22',
    '2026-10-31',
  ])
})

test('counts days that have a backup, so that a machine that was off loses none', () => {
  const gaps = ['2026-11-26', '2026-08-03', '2026-08-02', '2025-01-01'].flatMap((day) => daily(day, 1))
  expect(days(keptOf(gaps, { daily: 3, weekly: 0, monthly: 0 }, ZONE))).toEqual([
    '2026-11-26',
    '2026-08-03',
    '2026-08-02',
  ])
})

test("keeps the newest of several backups on one of the owner's days", () => {
  const evening = at('2026-11-25T22:30:00.000Z')
  const late = at('2026-11-25T23:30:00.000Z')
  const found = keptOf([evening, late], { daily: 9, weekly: 0, monthly: 0 }, 'UTC')
  expect([...found]).toEqual([late.name])
  // In Berlin, one is before midnight and one after.
  expect(keptOf([evening, late], { daily: 9, weekly: 0, monthly: 0 }, ZONE).size).toBe(2)
})

test('always keeps the newest, never more than the counts together, and keeps the same when asked again', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 500 * 24 }), { minLength: 1, maxLength: 80 }),
      fc.record({
        daily: fc.integer({ min: 1, max: 9 }),
        weekly: fc.integer({ min: 0, max: 9 }),
        monthly: fc.integer({ min: 0, max: 9 }),
      }),
      (hours, rule) => {
        const backups = [...new Set(hours)].map((hour) =>
          at(new Date(Date.UTC(2026, 0, 1, hour)).toISOString()),
        )
        const kept = keptOf(backups, rule, ZONE)
        const newest =
          backups
            .map(({ name }) => name)
            .toSorted()
            .at(-1) ?? ''
        expect(kept.has(newest)).toBe(true)
        expect(kept.size).toBeLessThanOrEqual(rule.daily + rule.weekly + rule.monthly)
        const left = backups.filter(({ name }) => kept.has(name))
        expect(keptOf(left, rule, ZONE)).toEqual(kept)
      },
    ),
  )
})

test('says when the rule removes the last of some backups, as removing day by day does', {
  tags: ['long'],
}, () => {
  const schedule = { hour: 3, timezone: ZONE }
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 0, max: 6 }), (count, back) => {
      const existing = daily('2026-11-26', count)
      let left = existing.filter(({ name }) => keptOf(existing, keep, ZONE).has(name))
      const names = new Set(left.slice(back).map(({ name }) => name))
      if (names.size === 0) return
      const nowMs = Date.parse('2026-11-26T12:00:00Z')
      const until = lastExpiry(names, left, { keep, schedule, nowMs })
      for (let due = nextDue(nowMs, schedule); ; due = nextDue(due.getTime(), schedule)) {
        const all = [...left, at(due.toISOString())]
        left = all.filter(({ name }) => keptOf(all, keep, ZONE).has(name))
        if (left.some(({ name }) => names.has(name))) continue
        expect(until).toBe(due.toISOString())
        break
      }
    }),
  )
})

test.each([
  ['2026-11-26T01:59:00Z', '2026-11-25T02:00:00.000Z', '2026-11-26T02:00:00.000Z'],
  ['2026-11-26T02:00:00Z', '2026-11-26T02:00:00.000Z', '2026-11-27T02:00:00.000Z'],
  // Daylight saving begins: there is no 2 o'clock, but 3.
  ['2026-03-29T00:30:00Z', '2026-03-28T02:00:00.000Z', '2026-03-29T01:00:00.000Z'],
])('at %s, a backup was due at %s and the next one is at %s', (now, last, next) => {
  const schedule = { hour: 3, timezone: ZONE }
  expect(lastDue(Date.parse(now), schedule).toISOString()).toBe(last)
  expect(nextDue(Date.parse(now), schedule).toISOString()).toBe(next)
})
