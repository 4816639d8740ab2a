import { expect, test } from 'vitest'
import {
  checkPace,
  countedFrom,
  InvalidRecurrence,
  missedSince,
  nextOccurrence,
} from '../../src/timers/schedule.ts'

test.each([
  ['* * * * *', '2026-06-01T09:59:00.000Z', '2026-06-01T10:00:00.000Z'],
  ['0 9 * * *', '2026-05-31T07:00:00.000Z', '2026-06-01T07:00:00.000Z'],
  ['0 9 *%2+1 * *', '2026-05-30T07:00:00.000Z', '2026-06-01T07:00:00.000Z'],
  ['0,30 9 * * 1-5', '2026-05-29T07:30:00.000Z', '2026-06-01T07:00:00.000Z'],
])('caps the count of missed occurrences of “%s” but finds the last one', (recurrence, last, nextAt) => {
  const timer = { dueAt: '2010-01-01T09:00:00.000Z', recurrence, timezone: 'Europe/Berlin' }
  const now = new Date(Date.parse(nextAt) - 30_000)
  expect(missedSince(timer, now)).toEqual({ passed: 1000, last, nextAt })
})

test.each([
  // A single time of day occurs once a day, even when it is skipped or repeated.
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T22:00Z', ['25T00:30', '26T01:30']],
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', ['29T01:00', '30T00:30']],
  ['30 1 * * *', 'America/New_York', '2026-11-01T00:00Z', ['01T05:30', '02T06:30']],
  ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T12:00Z', ['04T14:45', '05T15:15']],
  ['0 9 * * *', 'Pacific/Apia', '2011-12-29T12:00Z', ['29T19:00', '30T19:00']],
  // Every month has a last day, and few have a 31st.
  ['0 9 L * *', 'UTC', '2027-01-15T00:00Z', ['31T09:00', '28T09:00', '31T09:00', '30T09:00']],
  ['0 9 * * 1#1', 'UTC', '2026-11-01T00:00Z', ['02T09:00', '07T09:00', '04T09:00']],
  // 1 June 2026 is the 20,605th day since 1970, and a Monday.
  ['0 9 *%2+1 * *', 'UTC', '2026-05-30T00:00Z', ['30T09:00', '01T09:00', '03T09:00']],
  ['0 9 * * 4%2', 'UTC', '2026-05-30T00:00Z', ['04T09:00', '11T09:00', '18T09:00']],
  ['0 9 * * 4%2+1', 'UTC', '2026-05-30T00:00Z', ['11T09:00', '25T09:00', '09T09:00']],
  ['0 9 L *%2+1 *', 'UTC', '2026-12-01T00:00Z', ['31T09:00', '28T09:00', '30T09:00']],
  // The last day is one of the zone.
  [
    '30 23 * * * until 2026-06-02',
    'America/New_York',
    '2026-05-31T12:00Z',
    ['01T03:30', '02T03:30', '03T03:30', null],
  ],
  ['0 9 * * 4%2+1 until 2026-06-25', 'UTC', '2026-05-30T00:00Z', ['11T09:00', '25T09:00', null]],
  [
    '0 0,23 *%3+1 * *',
    'Europe/Berlin',
    '2026-10-20T22:00Z',
    ['22T22:00', '23T21:00', '25T23:00', '26T22:00'],
  ],
  // Of several times, repeated ones occur again and skipped ones do not.
  [
    '*/30 2 * * *',
    'Europe/Berlin',
    '2026-10-24T22:00Z',
    ['25T00:00', '25T00:30', '25T01:00', '25T01:30', '26T01:00'],
  ],
  ['0 2,14 * * *', 'Europe/Berlin', '2026-03-28T20:00Z', ['29T12:00', '30T00:00']],
])('computes the occurrences of “%s” in %s after %s', (recurrence, timezone, after, expected) => {
  const found: (string | null)[] = []
  for (let at: Date | null = new Date(after); at !== null && found.length < expected.length; ) {
    at = nextOccurrence(recurrence, timezone, at)
    found.push(at?.toISOString().slice(8, 16) ?? null)
  }
  expect(found).toEqual(expected)
})

test('counts every other week from the week of the first occurrence', () => {
  const counted = (first: string) => countedFrom(new Date(first), '0 9 * * 4%2', 'Europe/Berlin')
  expect(
    nextOccurrence(counted('2026-06-04T07:00Z'), 'Europe/Berlin', new Date('2026-06-04T07:00Z')),
  ).toEqual(new Date('2026-06-18T07:00Z'))
  expect(
    nextOccurrence(counted('2026-06-11T07:00Z'), 'Europe/Berlin', new Date('2026-06-11T07:00Z')),
  ).toEqual(new Date('2026-06-25T07:00Z'))
  expect(countedFrom(new Date(), '0 9 * * 4%2+1', 'UTC')).toBe('0 9 * * 4%2+1')
  expect(countedFrom(new Date(), '0 9 * * 4', 'UTC')).toBe('0 9 * * 4')
  expect(countedFrom(new Date('2026-06-11T07:00Z'), '0 9 * * 4%2 until 2026-08-01', 'UTC')).toBe(
    '0 9 * * 4%2+1 until 2026-08-01',
  )
})

test('counts what was missed only up to the last day', () => {
  const timer = {
    dueAt: '2026-06-01T09:00:00.000Z',
    recurrence: '0 9 * * * until 2026-06-03',
    timezone: 'UTC',
  }
  const missed = { passed: 3, last: '2026-06-03T09:00:00.000Z', nextAt: null }
  expect(missedSince(timer, new Date('2026-07-01T00:00Z'))).toEqual(missed)
})

test('takes more than one space before the last day', () => {
  const recurrence = '* * * * 4%2  until 2026-08-01'
  expect(() => checkPace(recurrence)).not.toThrow()
  expect(countedFrom(new Date('2026-06-11T07:00Z'), recurrence, 'UTC')).toMatch(
    /^\* \* \* \* 4%2\+1\s+until 2026-08-01$/,
  )
})

test.each(['0 9 * * * until 2026-02-30', '0 9 * * * until soon', 'until 2026-06-03'])(
  'refuses “%s”',
  (recurrence) => {
    expect(() => nextOccurrence(recurrence, 'UTC', new Date(0))).toThrow(InvalidRecurrence)
  },
)

test('finds no occurrence of steps that never meet', () => {
  expect(nextOccurrence('0 9 1 1%2+1 1%2', 'UTC', new Date(0))).toBeNull()
})
