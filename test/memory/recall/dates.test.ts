import { expect, test } from 'vitest'
import { stemOf, wordsOf } from '../../../projections/recall-text.ts'
import { timeWords } from '../../../projections/time-words.ts'
import { findDates, fitDates, stretchesOf } from '../../../src/memory/recall/dates.ts'

/** A Monday. */
const NOW = Date.UTC(2026, 5, 15, 9)

function datesIn(text: string) {
  const words = wordsOf(text)
  return findDates(text, words, timeWords().find(words.map(stemOf)), NOW)
}

function fitOf(text: string, date: string) {
  return fitDates(datesIn(text).hints, Date.parse(date))
}

test.each([
  ['August 16, 2025', { kind: 'day', year: 2025, month: 7, day: 16 }],
  ['on 16th of August', { kind: 'day', year: null, month: 7, day: 16 }],
  ['2025-08-16', { kind: 'day', year: 2025, month: 7, day: 16 }],
  ['Aug 16', { kind: 'day', year: null, month: 7, day: 16 }],
  ['16 августа 2025 года', { kind: 'day', year: 2025, month: 7, day: 16 }],
  ['2025年8月16日', { kind: 'day', year: 2025, month: 7, day: 16 }],
  ['in August', { kind: 'month', year: null, month: 7 }],
  ['en août 2025', { kind: 'month', year: 2025, month: 7 }],
  ['im Mai', { kind: 'month', year: null, month: 4 }],
  ['in May', { kind: 'month', year: null, month: 4 }],
  ['in 2024', { kind: 'year', year: 2024 }],
  ['yesterday', { kind: 'range', fromMs: Date.UTC(2026, 5, 14), toMs: Date.UTC(2026, 5, 15) }],
  ['昨日', { kind: 'range', fromMs: Date.UTC(2026, 5, 14), toMs: Date.UTC(2026, 5, 15) }],
  ['last week', { kind: 'range', fromMs: Date.UTC(2026, 5, 8), toMs: Date.UTC(2026, 5, 15) }],
  ['mois dernier', undefined],
  ['next month', { kind: 'range', fromMs: Date.UTC(2026, 6, 1), toMs: Date.UTC(2026, 7, 1) }],
  ['last year', { kind: 'range', fromMs: Date.UTC(2025, 0, 1), toMs: Date.UTC(2026, 0, 1) }],
])('parses "%s"', (text, hint) => {
  expect(datesIn(text).hints).toEqual(hint === undefined ? [] : [hint])
})

test.each(['may I ask', 'set the table', 'the mar on the car', '16 apples'])(
  'finds no date in "%s"',
  (text) => {
    expect(datesIn(text).hints).toEqual([])
  },
)

test('consumes the words of a date and no others', () => {
  const text = 'the trip on 16 August 2025'
  const left = wordsOf(text).filter((_, index) => !datesIn(text).used.has(index))
  expect(left).toEqual(['the', 'trip', 'on'])
})

test('fits a day best on itself, then near it, then for some days after', () => {
  expect(fitOf('16 August', '2025-08-16T23:00:00Z')).toMatchObject({ inside: 1, day: 1 })
  expect(fitOf('16 August', '2025-08-18T01:00:00Z')).toMatchObject({ inside: 1, day: 0.5 })
  expect(fitOf('16 August', '2025-08-28T01:00:00Z')).toEqual({ inside: 1, day: 0, after: 0 })
  expect(fitOf('30 August', '2025-09-02T01:00:00Z')).toMatchObject({ inside: 0, day: 0 })
  expect(fitOf('30 August', '2025-09-02T01:00:00Z').after).toBeGreaterThan(0.5)
  expect(fitOf('16 August 2024', '2025-08-16T23:00:00Z')).toEqual({ inside: 0, day: 0, after: 0 })
})

test('fits a month within it and shortly after', () => {
  expect(fitOf('August', '2025-08-01T00:00:00Z').inside).toBe(1)
  expect(fitOf('August', '2025-09-03T00:00:00Z')).toEqual({ inside: 0, day: 0, after: 0.5 })
})

test('covers every matching moment with a stretch', () => {
  for (const text of ['16 August', 'August', '2025', 'yesterday', 'last month']) {
    const { hints } = datesIn(text)
    const stretches = stretchesOf(hints, Date.UTC(2024, 0, 1), Date.UTC(2026, 11, 31))
    for (let atMs = Date.UTC(2024, 0, 5); atMs < Date.UTC(2026, 11, 31); atMs += 43_200_000) {
      const { inside, day } = fitDates(hints, atMs)
      const isStretch = stretches.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs)
      // For a day without a year, only the days near it count; ranking handles the rest.
      if (text === '16 August' ? day > 0 : inside > 0) expect(isStretch).toBe(true)
    }
  }
})
