import { type Intent, on, type Present } from '../intent.ts'
import { DAY_MS, fromWallMs, tellDate, tellTime, today, toLocalIso } from '../local-time.ts'
import { capitalise, plural, tidy } from '../text.ts'
import { repairWords, TIME_WORDS } from '../typos.ts'
import { parseDates } from '../when.ts'

/** Days of the year by name. */
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

/** The day that some words name, as `today` counts. Null for anything else. */
function dayOf(words: string, present: Present, forwardDate = true): Day | null {
  const name = repairWords(tidy(words), TIME_WORDS).replace(/’/g, "'")
  const holiday = NAMED_DAYS.find(([pattern]) => pattern.test(name))?.[1]
  const text = holiday ?? name.replace(/^day after/i, 'the day after')
  const [found] = parseDates(text, present, { forwardDate })
  if (!found || found.text.length < text.length - 3) return null
  const { start } = found
  const dayIn = (year: number) => Date.UTC(year, (start.get('month') ?? 1) - 1, start.get('day') ?? 1)
  const year = start.get('year') ?? 0
  const isYearBefore = !forwardDate && !start.isCertain('year') && dayIn(year) > today(present)
  const ms = dayIn(isYearBefore ? year - 1 : year)
  const date = tellDate(new Date(ms), { now: present.now, timezone: 'UTC' })
  return { ms, name: holiday ? capitalise(name) : date, date }
}

const daysUntil = ({ ms }: Day, present: Present) => Math.round((ms - today(present)) / DAY_MS)

function tellNow({ now, timezone }: Present): string {
  return `It’s ${tellTime(now, timezone)} on ${tellDate(now, { now, timezone })}.`
}

function countDays(words: string, present: Present, isSince: boolean): string | null {
  const day = dayOf(words, present, !isSince)
  if (!day) return null
  const days = daysUntil(day, present)
  if (days === 0) return `${day.name} is today.`
  return `${plural(Math.abs(days), 'day')} ${days > 0 ? 'until' : 'since'} ${day.name}.`
}

function tellDayOf(words: string, present: Present): string | null {
  const day = dayOf(words, present)
  if (!day) return null
  if (day.name !== day.date) return `${day.name} is on ${day.date}.`
  const near = { '1': 'Tomorrow is ', '-1': 'Yesterday was ' }[String(daysUntil(day, present))] ?? ''
  return `${near}${day.date}.`
}

/** "Tokyo" is the zone Asia/Tokyo; null for a place that names no zone. */
function timeIn(place: string, { now, timezone }: Present): string | null {
  const wanted = tidy(place).replace(/\s+/g, '_').toLowerCase()
  const isUtc = /^(?:utc|gmt)$/.test(wanted)
  const zone = isUtc
    ? 'UTC'
    : Intl.supportedValuesOf('timeZone').find((each) => each.toLowerCase().split('/').at(-1) === wanted)
  if (zone === undefined) return null
  const there = `${tellTime(now, zone)} on ${tellDate(now, { now, timezone: zone })}`
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
    (_groups, { present }) => tellNow(present),
  ),
  on(
    /^(?:what|which)(?:'?s| is)? (?:my |the )?time ?zone(?: am i in| is set| do you use)?$/,
    (_groups, { present }) => `Your time zone is ${present.timezone}.`,
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
    ([words = ''], { present }) => tellDayOf(words, present),
  ),
]

/** Days as `YYYY-MM-DD`, both included. */
export type Days = { readonly from: string; readonly to: string }

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** A past period in words. */
export const PERIOD =
  '(?:(?:earlier |so far )?today(?: so far)?|this (?:morning|afternoon|evening)|tonight|(?:the )?day before yesterday|yesterday(?: (?:morning|afternoon|evening|night))?|last night|(?:this|last|the past|the last|past) (?:week|month)|the (?:last|past) (?:few|\\d{1,3}) days|(?:last |this )?(?:sun|mon|tues|wednes|thurs|fri|satur)day)'

/** The days of a past period; weeks begin on Monday. */
export function daysOf(words: string, present: Present): Days {
  const now = today(present)
  const day = (ms: number) => toLocalIso(fromWallMs(ms)).slice(0, 10)
  const days = (fromAgo: number, toAgo: number) => ({
    from: day(now - fromAgo * DAY_MS),
    to: day(now - toAgo * DAY_MS),
  })
  const period = words.toLowerCase()
  if (period.includes('before yesterday')) return days(2, 2)
  if (/yesterday|last night/.test(period)) return days(1, 1)
  const weekday = WEEKDAYS.findIndex((name) => period.endsWith(name))
  if (weekday >= 0) {
    const ago = (new Date(now).getUTCDay() - weekday + 7) % 7
    return ago === 0 && period.startsWith('last') ? days(7, 7) : days(ago, ago)
  }
  const sinceMonday = (new Date(now).getUTCDay() + 6) % 7
  const { year, month, day: ofMonth } = fromWallMs(now)
  if (/past week|the last week/.test(period)) return days(6, 0)
  if (/past month|the last month/.test(period)) return days(29, 0)
  if (period === 'this week') return days(sinceMonday, 0)
  if (period === 'last week') return days(sinceMonday + 7, sinceMonday + 1)
  if (period === 'this month') return days(ofMonth - 1, 0)
  if (period === 'last month')
    return { from: day(Date.UTC(year, month - 2, 1)), to: day(Date.UTC(year, month - 1, 0)) }
  const count = period.endsWith('days') ? Number(/\d+/.exec(period)?.[0] ?? 3) : 1
  return days(Math.max(count, 1) - 1, 0)
}
