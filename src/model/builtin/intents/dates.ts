import { addDays, DAY_MS, dayIn } from '../../../lib/time.ts'
import { type Intent, on, type Present } from '../intent.ts'
import { formatDate, formatTime, today } from '../local-time.ts'
import { WEEKDAYS } from '../recurrence.ts'
import { capitalise, plural, tidy } from '../text.ts'
import { repairWords, TIME_WORDS } from '../typos.ts'
import { datesIn } from '../when.ts'

const HOLIDAYS: Readonly<Record<string, string>> = {
  'christmas|xmas|christmas day': '25 December',
  '(?:christmas|xmas) eve': '24 December',
  'boxing day': '26 December',
  "new year's eve": '31 December',
  "(?:the )?new year(?:'?s(?: day)?)?": '1 January',
  "valentine'?s(?: day)?": '14 February',
  halloween: '31 October',
}
const NAMED_DAYS = Object.entries(HOLIDAYS).map(
  ([name, date]) => [new RegExp(`^(?:${name})$`, 'i'), date] as const,
)

type Day = { readonly ms: number; readonly name: string; readonly date: string }

/** Parses a day; null for anything else. */
function readDay(words: string, present: Present, forwardDate = true): Day | null {
  const name = repairWords(tidy(words), TIME_WORDS).replace(/’/g, "'")
  const holiday = NAMED_DAYS.find(([pattern]) => pattern.test(name))?.[1]
  const text = holiday ?? name.replace(/^day after/i, 'the day after')
  const [found] = datesIn(text, present, forwardDate)
  if (!found || found.text.length < text.length - 3) return null
  const { start } = found
  const midnightIn = (year: number) => Date.UTC(year, (start.get('month') ?? 1) - 1, start.get('day') ?? 1)
  const year = start.get('year') ?? 0
  const isYearBefore = !forwardDate && !start.isCertain('year') && midnightIn(year) > today(present)
  const ms = midnightIn(isYearBefore ? year - 1 : year)
  const date = formatDate(new Date(ms), { now: present.now, timezone: 'UTC' })
  return {
    ms,
    name: holiday ? name.replace(/(?<![\p{L}'])\p{L}/gu, (letter) => letter.toUpperCase()) : date,
    date,
  }
}

const daysUntil = ({ ms }: Day, present: Present) => Math.round((ms - today(present)) / DAY_MS)

function formatNow({ now, timezone }: Present): string {
  return `It’s ${formatTime(now, timezone)} on ${formatDate(now, { now, timezone })}.`
}

function countDays(words: string, present: Present, isSince: boolean): string | null {
  const day = readDay(words, present, !isSince)
  if (!day) return null
  const days = daysUntil(day, present)
  if (days === 0) return `${day.name} is today.`
  return `${plural(Math.abs(days), 'day')} ${days > 0 ? 'until' : 'since'} ${day.name}.`
}

function answerDayOf(words: string, present: Present): string | null {
  const day = readDay(words, present)
  if (!day) return null
  if (day.name !== day.date) return `${day.name} is on ${day.date}.`
  const near = { '1': 'Tomorrow is ', '-1': 'Yesterday was ' }[String(daysUntil(day, present))] ?? ''
  return `${near}${day.date}.`
}

/** "Tokyo" means Asia/Tokyo; null if no zone has that name. */
function timeIn(place: string, { now, timezone }: Present): string | null {
  const wanted = tidy(place).replace(/\s+/g, '_').toLowerCase()
  const isUtc = /^(?:utc|gmt)$/.test(wanted)
  const zone = isUtc
    ? 'UTC'
    : Intl.supportedValuesOf('timeZone').find((each) => each.toLowerCase().split('/').at(-1) === wanted)
  if (zone === undefined) return null
  const there = `${formatTime(now, zone)} on ${formatDate(now, { now, timezone: zone })}`
  return zone === timezone ? `It’s ${there}.` : `In ${capitalise(tidy(place))} it’s ${there}.`
}

const NOW =
  "(?: (?:is it|it is|is today|is this|it'?s|are we in|do we have))?(?: (?:right now|now|today|here|currently|at the moment))?"

export const dateIntents: readonly Intent[] = [
  on(
    [
      `(?:(?:do you know|tell me|say|what'?s|what is|what|whats|which|give me|show me) )?(?:the )?(?:current |exact |local )?(?:time|date|day|year|month|weekday|day of the week)(?: and (?:the )?(?:date|time))?${NOW}`,
      /^(?:what(?:'?s| is) )?today(?:'?s date)?$|^how late is it(?: now)?$|^(?:got|have you got|do you have) the time$|^what day$/,
    ],
    (_groups, { present }) => formatNow(present),
  ),
  on(
    /^what(?:'?s| is)? (?:the )?(?:current |local )?time(?: is it)?(?: right)?(?: now)? in ([\p{L} .'-]{2,40})$/u,
    ([place = ''], { present }) => timeIn(place, present),
  ),
  on(
    [
      /^how (?:many days|long)(?: is it| are there| do i have| left| is left| to go)*(?: until| till| til| to| before) (?:it's |it is )?(.{2,60})$/,
      /^(?:days|time) (?:until|till) (.{2,60})$/,
    ],
    ([words = ''], { present }) => countDays(words, present, false),
  ),
  on(
    /^how (?:many days|long)(?: is it| has it been| have passed| ago)?(?: since| was| is) (.{2,60})$/,
    ([words = ''], { present }) => countDays(words, present, true),
  ),
  on(
    [
      /^(?:what|which) (?:week)?(?:day|date)(?: of the week)? (?:is|was|will|are|does)(?: it)?(?: be| on| fall on)? (.{2,60})$/,
      /^(?:what'?s|what is) (?:the )?(?:date|day) (?:on |of )?(.{2,60})$/,
      /^(?:what|which) (?:week)?day (?:does|will|did) (.{2,60}) (?:fall on|fall|be)$/,
      /^when(?:'?s| is) (.{2,60})$/,
    ],
    ([words = ''], { present }) => answerDayOf(words, present),
  ),
]

/** A range of days as `YYYY-MM-DD`, inclusive. */
export type Days = { readonly from: string; readonly to: string }

export const PERIOD =
  '(?:(?:earlier |so far )?today(?: so far)?|this (?:morning|afternoon|evening)|tonight|(?:the )?day before yesterday|yesterday(?: (?:morning|afternoon|evening|night))?|last night|(?:this|last|the past|the last|past) (?:week|month)|the (?:last|past) (?:few|\\d{1,3}) days|(?:last |this )?(?:sun|mon|tues|wednes|thurs|fri|satur)day)'

/** Weeks start on Monday. */
export function daysOf(words: string, present: Present): Days {
  const period = words.toLowerCase()
  const now = new Date(today(present))
  const sinceWeekday = (weekday: number) => (now.getUTCDay() - weekday + 7) % 7
  const ofMonth = now.getUTCDate()
  const lastMonthDays = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 0)).getUTCDate()
  const count = Math.max(Number(/\d+/.exec(period)?.[0] ?? 3), 1)
  const weekday = WEEKDAYS.findIndex((name) => period.endsWith(name.toLowerCase()))
  const sinceDay = sinceWeekday(weekday) || (period.startsWith('last') ? 7 : 0)
  const periods: readonly (readonly [RegExp, from: number, to: number])[] = [
    [/before yesterday/, 2, 2],
    [/yesterday|last night/, 1, 1],
    [/(?:past|the last) week/, 6, 0],
    [/(?:past|the last) month/, 29, 0],
    [/this week/, sinceWeekday(1), 0],
    [/last week/, sinceWeekday(1) + 7, sinceWeekday(1) + 1],
    [/this month/, ofMonth - 1, 0],
    [/last month/, ofMonth - 1 + lastMonthDays, ofMonth],
    [/days$/, count - 1, 0],
    [/today|this/, 0, 0],
    [/day$/, sinceDay, sinceDay],
  ]
  const [, from, to] = periods.find(([name]) => name.test(period)) ?? [null, 0, 0]
  const day = (ago: number) => addDays(dayIn(present.timezone, present.now), -ago)
  return { from: day(from), to: day(to) }
}
