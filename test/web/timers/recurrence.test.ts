import { expect, test } from 'vitest'
import { recurrenceText } from '../../../web/src/timers/recurrence.ts'

test.each([
  ['0 9 * * *', 'Every day at 09:00'],
  ['5 14 * * 1-5', 'Every weekday at 14:05'],
  ['0 7 * * 7', 'Every Sunday at 07:00'],
  ['0 7 * * mon,WED', 'Every Monday and Wednesday at 07:00'],
  ['0 8,20 * * *', 'Every day at 08:00 and 20:00'],
  ['30 8 1 * *', 'Every month on day 1 at 08:30'],
  ['30 8 L * *', 'Every month on the last day at 08:30'],
  ['0 9 3 5 *', 'Every year on 3 May at 09:00'],
  ['0 9 29 2 *', 'Every year on 29 February at 09:00'],
  ['0 */3 * * *', 'Every 3 hours'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['0 * * * *', 'Every hour'],
  ['0 9 *%2 * *', 'Every 2 days at 09:00'],
  ['0 9 *%10+3 * *', 'Every 10 days at 09:00'],
  ['0 9 * * 4%2+1', 'Every 2 weeks on Thursday at 09:00'],
  ['0 9 * * TUE,THU%2', 'Every 2 weeks on Tuesday and Thursday at 09:00'],
  ['0 9 5 *%3+2 *', 'Every 3 months on day 5 at 09:00'],
  ['0 9 L *%2 *', 'Every 2 months on the last day at 09:00'],
  ['0 9 * * 1#1', 'Every month on the first Monday at 09:00'],
  ['0 9 * * MON#1,MON#3', 'Every month on the first and third Monday at 09:00'],
  ['0 9 * * 5#L', 'Every month on the last Friday at 09:00'],
  ['0 9 * * 4%2+1 until 2026-12-03', 'Every 2 weeks on Thursday at 09:00, until 3 December 2026'],
])('describes %s as "%s"', (expression, words) => {
  expect(recurrenceText(expression)).toBe(words)
})

test.each([
  '*/7 * * * *',
  '0 */5 * * *',
  '0 9 31 2 *',
  '0 9 1 13 *',
  '0 9 3 5 1',
  '0 9 * 5 *',
  '0 9 * * 1#1,2#2',
  '0 9 * * 1#7',
  '0 9 1%2 * *',
  '0 9 *%2 * 1%2',
  '0 9 1 3%2 *',
  '0 0 9 * * *',
  '61 9 * * *',
  '0 9 1 * 1',
  'daily',
])('shows the expression %s as is, because no description fits', (expression) => {
  expect(recurrenceText(expression)).toBe(expression)
})
