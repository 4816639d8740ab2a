import fc from 'fast-check'
import { expect, test } from 'vitest'
import { leadIn, takeWhen } from '../../../src/model/builtin/when.ts'
import { nextOccurrence } from '../../../src/timers/schedule.ts'

/** A Tuesday, 14:00 in Berlin. */
const present = { now: new Date('2026-06-02T12:00:00Z'), timezone: 'Europe/Berlin' }
const when = (text: string, at = present, early = false) => takeWhen(text, at, { early })

test.for([
  ['in 10 minutes to call mom', 600, 'to call mom'],
  ['in half an hour', 1800, ''],
  ['in an hour and a half check the oven', 5400, 'check the oven'],
  ['in 1h30', 5400, ''],
  ['in 2 hours and 15 minutes leave', 8100, 'leave'],
  ['for five minutes', 300, ''],
  ['in 20 to move the car', 1200, 'to move the car'],
  ['10-minute timer', 600, 'timer'],
  ['in 90 seconds', 90, ''],
  ['for a quarter of an hour', 900, ''],
  ['to buy milk in a couple of hours', 7200, 'to buy milk'],
  ['in 1.5 hours', 5400, ''],
  ['5 min from now', 300, ''],
] as const)('reads “%s” as in %i seconds', ([text, seconds, rest]) => {
  expect(when(text)).toEqual({ kind: 'in', seconds, rest })
})

test.for([
  ['at 7', '2026-06-02T19:00', ''],
  ['at 5 to call Ada', '2026-06-02T17:00', 'to call Ada'],
  ['at seven', '2026-06-02T19:00', ''],
  ["at 20 to 8 Mark's cake", '2026-06-02T19:40', "Mark's cake"],
  ['at 1', '2026-06-03T13:00', ''],
  ['at noon', '2026-06-03T12:00', ''],
  ['at 19h30 to watch the match', '2026-06-02T19:30', 'to watch the match'],
  ['in the morning to defrost the chicken', '2026-06-03T09:00', 'to defrost the chicken'],
  ['to defrost the chicken in the morning', '2026-06-03T09:00', 'to defrost the chicken'],
  ['at the weekend to call mum', '2026-06-06T09:00', 'to call mum'],
  ['at the end of the month to pay the rent', '2026-06-30T09:00', 'to pay the rent'],
  ['Friday week to return the books', '2026-06-12T09:00', 'to return the books'],
  ['a week on Friday at 10', '2026-06-12T10:00', ''],
  ['in two weeks on Wednesday to call the vet', '2026-06-17T09:00', 'to call the vet'],
  ['to call the vet on Wednesday in 2 weeks', '2026-06-17T09:00', 'to call the vet'],
  ['the first Monday of next month to call', '2026-07-06T09:00', 'to call'],
  ['the last Friday in March at 4', '2027-03-26T16:00', ''],
  ['to book on the 2nd Tuesday of June at 10', '2026-06-09T10:00', 'to book'],
  ['to book on the first Monday in June', '2027-06-07T09:00', 'to book'],
  ['to ring the bank between 9 and 12 tomorrow', '2026-06-03T09:00', 'to ring the bank'],
  ['to renew the passport in March', '2027-03-01T09:00', 'to renew the passport'],
  ['to renew the passport in July next year', '2027-07-01T09:00', 'to renew the passport'],
  ['mid July to post cards', '2026-07-15T09:00', 'to post cards'],
  ['the week after next to book', '2026-06-16T14:00', 'to book'],
  ['a month from today to cancel', '2026-07-02T14:00', 'to cancel'],
  ['on new years eve at 6', '2026-12-31T18:00', ''],
  ['on Xmas eve to wrap presents', '2026-12-24T09:00', 'to wrap presents'],
  ['first thing tomorrow to call', '2026-06-03T09:00', 'to call'],
  ['at lunchtime to call', '2026-06-03T12:00', 'to call'],
  ['at 10 to book the lunchtime table', '2026-06-02T22:00', 'to book the lunchtime table'],
  ['2025 taxes on Friday', '2026-06-05T09:00', '2025 taxes'],
  ['at 1830 to leave', '2026-06-02T18:30', 'to leave'],
  ['18.30 to leave', '2026-06-02T18:30', 'to leave'],
  ['at 6ish to leave', '2026-06-02T18:00', 'to leave'],
  ['to pay 12.50 tomorrow', '2026-06-03T09:00', 'to pay 12.50'],
  ['to pay Dave 60.00 on Friday at 8.30', '2026-06-05T08:30', 'to pay Dave 60.00'],
  ['on the 3rd at 4 to call', '2026-06-03T16:00', 'to call'],
  ['a week tomorrow', '2026-06-10T09:00', ''],
  ['to check in tomorrow', '2026-06-03T09:00', 'to check in'],
  ['on Tuesday in the afternoon to call Bea', '2026-06-09T15:00', 'to call Bea'],
  ['around 4 to start cooking', '2026-06-02T16:00', 'to start cooking'],
  ['to cancel the trial before the 20th', '2026-06-19T09:00', 'to cancel the trial'],
  ['to buy wine before Friday', '2026-06-04T09:00', 'to buy wine'],
  ['to file the report by the end of the week', '2026-06-05T09:00', 'to file the report'],
  ['sometime next week to get a haircut', '2026-06-09T09:00', 'to get a haircut'],
  ['at midnight', '2026-06-03T00:00', ''],
  ['at 05:30', '2026-06-03T05:30', ''],
  ['at half past seven', '2026-06-02T19:30', ''],
  ['tomorrow at 9', '2026-06-03T09:00', ''],
  ['at quarter to nine tomorrow', '2026-06-03T08:45', ''],
  ['tomorrow morning', '2026-06-03T09:00', ''],
  ['tonight', '2026-06-02T21:00', ''],
  ['later today to call Ada', '2026-06-02T17:00', 'to call Ada'],
  ['call Ada today', '2026-06-02T17:00', 'call Ada'],
  ['this evening at 7', '2026-06-02T19:00', ''],
  ['today at 9', '2026-06-02T21:00', ''],
  ['on Friday', '2026-06-05T09:00', ''],
  ['on Friday at 5', '2026-06-05T17:00', ''],
  ['Friday at 9 to pay', '2026-06-05T09:00', 'to pay'],
  ['next Monday at 10 to pay rent', '2026-06-08T10:00', 'to pay rent'],
  ['on 3 May at 10:00 for the dentist', '2027-05-03T10:00', 'for the dentist'],
  ['on the 15th at 3pm to pay', '2026-06-15T15:00', 'to pay'],
  ['on the 1st', '2026-07-01T09:00', ''],
  ['in 2 days at 9', '2026-06-04T09:00', ''],
  ['in two weeks', '2026-06-16T14:00', ''],
  ['day after tomorrow at 8', '2026-06-04T08:00', ''],
  ['on 2026-07-01 at 10:00', '2026-07-01T10:00', ''],
  ['on the 15th of December to buy a present', '2026-12-15T09:00', 'to buy a present'],
  ['to pay the tax on the 5th of January', '2027-01-05T09:00', 'to pay the tax'],
  ['on Friday the 4th of December to pay', '2026-12-04T09:00', 'to pay'],
  ['on the 5th of next month to pay', '2026-07-05T09:00', 'to pay'],
  ['at 5 to 6 to leave', '2026-06-02T17:55', 'to leave'],
  ['on Friday the 12th to pay', '2026-06-12T09:00', 'to pay'],
  ['on the 15th of May at 10', '2027-05-15T10:00', ''],
  ['at 8 tomorrow evening to call Dad', '2026-06-03T20:00', 'to call Dad'],
  ['at 7:30 tomorrow evening', '2026-06-03T19:30', ''],
  ['at quarter to eight tomorrow evening', '2026-06-03T19:45', ''],
  ['at eight on Friday morning', '2026-06-05T08:00', ''],
  ['to eat at 7pm this evening', '2026-06-02T19:00', 'to eat'],
  ['tomorow at 11:55pm to lock up', '2026-06-03T23:55', 'to lock up'],
  ['tommorrow to lock up', '2026-06-03T09:00', 'to lock up'],
  ['about the 5pm meeting tomorrow at 9', '2026-06-03T09:00', 'about the 5pm meeting'],
  ["about monday's meeting at 4", '2026-06-02T16:00', "about monday's meeting"],
  ['at the end of August to pay', '2026-08-31T09:00', 'to pay'],
  ['to call 555 1234 at 4:15 pm', '2026-06-02T16:15', 'to call 555 1234'],
] as const)('reads “%s” as %s', ([text, local, rest]) => {
  expect(when(text)).toMatchObject({ kind: 'at', local, rest })
})

test('places an alarm in the morning', () => {
  expect(when('at 6', present, true)).toMatchObject({ local: '2026-06-03T06:00' })
})

test.for([
  ['every day at 8', '0 8 * * *', 'every day at 08:00'],
  ['every morning', '0 9 * * *', 'every day at 09:00'],
  ['every evening at 8', '0 20 * * *', 'every day at 20:00'],
  ['daily at noon', '0 12 * * *', 'every day at 12:00'],
  ['every night', '0 21 * * *', 'every day at 21:00'],
  ['every day at 7am and 7pm', '0 7,19 * * *', 'every day at 07:00 and 19:00'],
  ['every day at 8 and 20', '0 8,20 * * *', 'every day at 08:00 and 20:00'],
  ['every weekday at 7:30', '30 7 * * 1-5', 'every weekday at 07:30'],
  ['every weekend at 10', '0 10 * * 0,6', 'every Saturday and Sunday at 10:00'],
  ['every Monday and Thursday at 6pm', '0 18 * * 1,4', 'every Monday and Thursday at 18:00'],
  ['mondays at 9', '0 9 * * 1', 'every Monday at 09:00'],
  ['on tuesday mornings at half 7', '30 7 * * 2', 'every Tuesday at 07:30'],
  ['weekly on friday at 3', '0 15 * * 5', 'every Friday at 15:00'],
  ['at the end of every month', '0 9 L * *', 'on the last day of every month at 09:00'],
  ['at the start of every month', '0 9 1 * *', 'on day 1 of every month at 09:00'],
  ['every other day at 9', '0 9 *%2 * *', 'every other day at 09:00'],
  ['every 3 evenings', '0 19 *%3 * *', 'every 3 days at 19:00'],
  ['every two weeks', '0 9 *%14 * *', 'every other week at 09:00'],
  ['fortnightly', '0 9 *%14 * *', 'every other week at 09:00'],
  ['every fortnight on Thursday', '0 9 * * 4%2', 'every other Thursday at 09:00'],
  ['on Fridays every three weeks', '0 9 * * 5%3', 'every 3 weeks on Friday at 09:00'],
  ['every other Tuesday and Thursday at 6pm', '0 18 * * 2,4%2', 'every other Tuesday and Thursday at 18:00'],
  ['every other weekend', '0 9 * * 0,6%2', 'every other weekend at 09:00'],
  ['every other month on the 5th', '0 9 5 *%2 *', 'on day 5 of every other month at 09:00'],
  ['quarterly', '0 9 1 *%3 *', 'on day 1 of every 3 months at 09:00'],
  ['every second Monday', '0 9 * * 1%2', 'every other Monday at 09:00'],
  ['every second Monday of the month', '0 9 * * 1#2', 'on the second Monday of every month at 09:00'],
  [
    'the 1st and 3rd Monday of each month',
    '0 9 * * 1#1,1#3',
    'on the first and third Monday of every month at 09:00',
  ],
  ['every month on the last Friday at 4', '0 16 * * 5#L', 'on the last Friday of every month at 16:00'],
  ['every hour', '0 * * * *', 'every hour'],
  ['every 15 minutes', '*/15 * * * *', 'every 15 minutes'],
  ['every half hour', '*/30 * * * *', 'every 30 minutes'],
  ['every 2 hours', '0 */2 * * *', 'every 2 hours'],
  ['on the 1st of every month at 9', '0 9 1 * *', 'on day 1 of every month at 09:00'],
  ['monthly on the 15th', '0 9 15 * *', 'on day 15 of every month at 09:00'],
  ['every year on 3 May', '0 9 3 5 *', 'every year on 3 May at 09:00'],
  // It is Tuesday, 2 June, 14:00.
  ['daily at 7 am until friday', '0 7 * * * until 2026-06-05', 'every day at 07:00, until Friday 5 June'],
  [
    'every Monday at 9 until the 15th',
    '0 9 * * 1 until 2026-06-15',
    'every Monday at 09:00, until Monday 15 June',
  ],
  [
    'every day at 8 until christmas',
    '0 8 * * * until 2026-12-25',
    'every day at 08:00, until Friday 25 December',
  ],
  [
    'every day at 8 until the end of June',
    '0 8 * * * until 2026-06-30',
    'every day at 08:00, until Tuesday 30 June',
  ],
  [
    'every day at 8 until 1 June 2027',
    '0 8 * * * until 2027-06-01',
    'every day at 08:00, until Tuesday 1 June 2027',
  ],
  ['every day at 8 for one month', '0 8 * * * until 2026-07-02', 'every day at 08:00, until Thursday 2 July'],
  ['every day at 8 for 5 days', '0 8 * * * until 2026-06-07', 'every day at 08:00, until Sunday 7 June'],
  ['every day at 8 pm for a week', '0 20 * * * until 2026-06-08', 'every day at 20:00, until Monday 8 June'],
  [
    'for the next two weeks every Monday',
    '0 9 * * 1 until 2026-06-16',
    'every Monday at 09:00, until Tuesday 16 June',
  ],
  ['every December 24th at 6pm', '0 18 24 12 *', 'every year on 24 December at 18:00'],
] as const)('reads “%s” as the recurrence %s', ([text, cron, words]) => {
  expect(when(text)).toEqual({ kind: 'every', cron, words, rest: '' })
  expect(nextOccurrence(cron, 'Europe/Berlin', present.now)).toBeInstanceOf(Date)
})

test.for([
  'every 7 minutes',
  'every two years on 5 May',
  'every other weekday',
  'every 3 days on Monday',
  'every 5 hours',
  'every day at 7:15 and 8:30',
  'to take my pills twice a day',
  'three times a week to run',
  'every hour until 6 pm',
  'every hour from 9 to 5',
  'every morning and evening',
  'every day starting next monday',
  'every Friday to book a car for a week',
  'every Sunday to keep the shop open until Monday',
  'at 8 and 20 to take the pills',
  'at 8 am and 8 pm',
  'to take my tablets at 8am and 8pm',
  'on monday and thursday at 9 to run',
  'every evening at 9 except Sundays to journal',
  'every hour during work to drink water',
  'at 6 or 7 to leave',
  'at 5 to call Lucy and at 6 to call Tom',
])('does not approximate “%s”, which one timer cannot express', (text) => {
  expect(when(text)).toMatchObject({ kind: 'impossible' })
})

test.for([
  'to read chapter 7',
  'to ask May about the report',
  'at 25:00',
  '',
  'call me Tom from now on',
  'in the second week of January',
  'tomorrow after lunch to email Joe',
])('finds no time in “%s”', (text) => {
  expect(when(text)).toBeNull()
})

test.for([
  // Daylight saving time begins on 29 March 2026 and ends on 25 October 2026.
  ['2026-03-28T12:00:00Z', 'tomorrow at 9', '2026-03-29T09:00'],
  ['2026-03-28T12:00:00Z', 'tomorrow at 2:30 am', '2026-03-29T02:30'],
  ['2026-10-24T12:00:00Z', 'in 2 days', '2026-10-26T14:00'],
  ['2026-10-24T23:30:00Z', 'tomorrow at 8', '2026-10-26T08:00'],
] as const)('at %s, reads “%s” as %s on the wall clock despite daylight saving', ([now, text, local]) => {
  expect(when(text, { ...present, now: new Date(now) })).toMatchObject({ local })
})

test('takes the day from the owner’s time zone, not from UTC', () => {
  const now = new Date('2026-06-02T23:30:00Z')
  expect(when('tomorrow at 9', { now, timezone: 'Pacific/Auckland' })).toMatchObject({
    local: '2026-06-04T09:00',
  })
  expect(when('tomorrow at 9', { now, timezone: 'America/Los_Angeles' })).toMatchObject({
    local: '2026-06-03T09:00',
  })
  const justPastMidnight = { now: new Date('2026-06-02T22:00:56Z'), timezone: 'Europe/Berlin' }
  expect(when('tomorrow at 9', justPastMidnight)).toMatchObject({ local: '2026-06-04T09:00' })
})

test('never places a time without a date in the past', () => {
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns')
  const now = fc.date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true })
  const clock = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 59 }))
  fc.assert(
    fc.property(
      now,
      zone,
      clock,
      fc.constantFrom('', ' am', ' pm'),
      (at, timezone, [hour, minute], meridiem) => {
        const found = when(`at ${hour}:${String(minute).padStart(2, '0')}${meridiem}`, { now: at, timezone })
        const local = new Intl.DateTimeFormat('sv-SE', {
          timeZone: timezone,
          dateStyle: 'short',
          timeStyle: 'short',
        })
          .format(at)
          .replace(' ', 'T')
        expect(found?.kind === 'at' && found.local >= local).toBe(true)
      },
    ),
  )
})

test('reads any text without throwing', () => {
  const word = fc.constantFrom(
    'in',
    'at',
    'every',
    'on',
    'the',
    '10',
    '7:30',
    'pm',
    'minutes',
    'friday',
    'tomorrow',
    'and',
    'half',
    'past',
    'month',
    '31st',
    'other',
    'weekend',
    'last',
    'may',
    ',',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(word).map((words) => words.join(' ')),
        fc.string({ unit: 'binary' }),
      ),
      (text) => {
        const found = when(text)
        if (found?.kind === 'at') expect(found.local).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/)
        if (found?.kind === 'every') expect(() => nextOccurrence(found.cron, 'UTC', new Date())).not.toThrow()
      },
    ),
    { numRuns: 500 },
  )
})

test.for([
  ['a week before Christmas to buy presents', 'Christmas', '2026-12-18T09:00', 'to buy presents'],
  [
    'two hours before my flight on 19 June at 6 pm',
    'my flight on 19 June at 6 pm',
    '2026-06-19T16:00',
    'my flight',
  ],
  [
    'to call Ann an hour before my flight to Rome on 19 June at 6 pm',
    'my flight to Rome on 19 June at 6 pm',
    '2026-06-19T17:00',
    'to call Ann',
  ],
  [
    'an hour before my flight to Rome on 19 June at 6 pm to call Ann',
    'my flight to Rome on 19 June at 6 pm',
    '2026-06-19T17:00',
    'to call Ann',
  ],
  [
    'my flight is on 19 June at 6 pm, the evening before to pack',
    'my flight is on 19 June at 6 pm',
    '2026-06-18T19:00',
    'to pack',
  ],
  ['to leave 10 minutes before 5', '5', '2026-06-02T16:50', 'to leave'],
  [
    'the evening before to pack for the trip on Saturday',
    'to pack for the trip on Saturday',
    '2026-06-05T19:00',
    'to pack for the trip',
  ],
  ['a month before the wedding on 12 July', 'the wedding on 12 July', '2026-06-12T09:00', 'the wedding'],
] as const)('reads “%s” as before “%s”', ([text, event, local, rest]) => {
  const lead = leadIn(text, present)
  expect(lead?.event).toBe(event)
  expect(lead?.dueBefore(event)).toEqual({ kind: 'at', local, rest, isClock: false, isDay: false })
})

test('leaves to the conversation what a reminder beforehand does not say', () => {
  expect(leadIn('an hour before to pack', present)?.event).toBe('')
  const wedding = leadIn('a week before the wedding to collect the suit', present)
  expect(wedding?.event).toBe('the wedding')
  expect(wedding?.dueBefore('the wedding')).toBeNull()
  expect(wedding?.dueBefore('the wedding 12 July')).toMatchObject({ local: '2026-07-05T09:00' })
})

test.for([
  'tomorrow at 9 to call the shop a day before they close',
  'an hour earlier tomorrow',
  'to look before I leap',
])('reads “%s” as no reminder beforehand', (text) => {
  expect(leadIn(text, present)).toBeNull()
})
