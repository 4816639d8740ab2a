import { expect, test } from 'vitest'
import { recurrenceText } from '../../../web/src/timers/recurrence.ts'

test.each([
  ['0 9 * * *', 'Every day at 09:00'],
  ['5 14 * * 1-5', 'Every weekday at 14:05'],
  ['0 7 * * 7', 'Every Sunday at 07:00'],
  ['0 7 * * mon,WED', 'Every Monday and Wednesday at 07:00'],
  ['30 8 1 * *', 'Every month on day 1 at 08:30'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['0 * * * *', 'Every hour'],
])('describes %s as "%s"', (expression, words) => {
  expect(recurrenceText(expression)).toBe(words)
})

test.each(['*/7 * * * *', '0 9 1 1 *', '0 9 * * 1#2', '0 0 9 * * *', '61 9 * * *', '0 9 1 * 1', 'daily'])(
  'shows the expression %s as is, because no description fits',
  (expression) => {
    expect(recurrenceText(expression)).toBe(expression)
  },
)
