import { expect, test } from 'vitest'
import { recurrenceText } from '../../../web/src/view/recurrence.ts'

test.each([
  ['0 9 * * *', 'Every day at 9:00'],
  ['5 14 * * 1-5', 'Every weekday at 14:05'],
  ['0 7 * * 7', 'Every Sunday at 7:00'],
  ['0 7 * * mon,WED', 'Every Monday and Wednesday at 7:00'],
  ['30 8 1 * *', 'Every month on day 1 at 8:30'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['0 * * * *', 'Every hour'],
])('%s is said as "%s"', (expression, words) => {
  expect(recurrenceText(expression, 'en-GB')).toBe(words)
})

test('the time of day is written as the locale writes it', () => {
  expect(recurrenceText('5 21 * * *', 'en-US').replaceAll(/\s/g, ' ')).toBe('Every day at 9:05 PM')
})

test.each(['*/7 * * * *', '0 9 1 1 *', '0 9 * * 1#2', '0 0 9 * * *', '61 9 * * *', '0 9 1 * 1', 'daily'])(
  '%s is shown as it is, rather than in words that would be wrong',
  (expression) => {
    expect(recurrenceText(expression)).toBe(expression)
  },
)
