import { addDays, DAY_MS, dayIn } from '../../../lib/time.ts'
import { type Intent, on, type Present, type Steps, type World } from '../intent.ts'
import { formatDate, formatTime, today, wallMs } from '../local-time.ts'
import { WEEKDAYS } from '../recurrence.ts'
import { capitalise, joinWords, plural, tidy } from '../text.ts'
import { holiday, withDates } from '../time-phrases.ts'
import { datesIn, takeWhen } from '../when.ts'
import { lookUp, toldDate } from './look-up.ts'

type Day = { readonly ms: number; readonly name: string; readonly date: string }

/** Parses a day; null for anything else. */
function readDay(words: string, present: Present): Day | null {
  const name = tidy(words).replace(/’/g, "'")
  const known = holiday(name)
  const text = withDates(known ?? name.replace(/^day after/i, 'the day after'), wallMs(present))
  const [found] = datesIn(text, present)
  if (!found || found.text.length < text.length - 3) return null
  const { start } = found
  const ms = Date.UTC(start.get('year') ?? 0, (start.get('month') ?? 1) - 1, start.get('day') ?? 1)
  const date = formatDate(new Date(ms), { ...present, timezone: 'UTC' })
  return {
    ms,
    name: known ? name.replace(/(?<![\p{L}'])\p{L}/gu, (letter) => letter.toUpperCase()) : date,
    date,
  }
}

const daysUntil = ({ ms }: Day, present: Present) => Math.round((ms - today(present)) / DAY_MS)

const formatNow = (present: Present) => `It’s ${timeAndDate(present)}.`

const timeAndDate = (present: Present) =>
  `${formatTime(present.now, present)} on ${formatDate(present.now, present)}`

/** "2 hours and 5 minutes", without what is zero. */
export const countOf = (...parts: readonly (readonly [number, string])[]) =>
  joinWords(parts.filter(([count]) => count > 0).map(([count, one]) => plural(count, one)))

/** "Until 5 pm" is a matter of hours; null without a time of day. */
function countHours(words: string, present: Present): string | null {
  const when = takeWhen(words, present, { early: false })
  if (when?.kind !== 'at' || !datesIn(words, present)[0]?.start.isCertain('hour')) return null
  const minutes = Math.round((Date.parse(`${when.local}Z`) - wallMs(present)) / 60_000)
  if (minutes <= 0 || minutes >= 2 * 24 * 60) return null
  return `${countOf([Math.floor(minutes / 60), 'hour'], [minutes % 60, 'minute'])} until ${tidy(words)}.`
}

function countDays(words: string, present: Present, inWeeks: boolean): string | null {
  const day = readDay(words, present)
  if (!day) return null
  const days = daysUntil(day, present)
  if (days === 0) return `${day.name} is today.`
  const far = Math.abs(days)
  const weeks = inWeeks ? Math.floor(far / 7) : 0
  return `${countOf([weeks, 'week'], [far - weeks * 7, 'day'])} ${days > 0 ? 'until' : 'since'} ${day.name}.`
}

function answerDayOf(words: string, present: Present): string | null {
  const day = readDay(words, present)
  if (!day) return null
  if (day.name !== day.date) return `${day.name} is on ${day.date}.`
  const near = { '1': 'Tomorrow is ', '-1': 'Yesterday was ' }[String(daysUntil(day, present))] ?? ''
  return `${near}${day.date}.`
}

/** "Tokyo" means Asia/Tokyo; null if no zone has that name. */
function timeIn(place: string, present: Present): string | null {
  const wanted = tidy(place).replace(/\s+/g, '_').toLowerCase()
  const isUtc = /^(?:utc|gmt)$/.test(wanted)
  const zone = isUtc
    ? 'UTC'
    : Intl.supportedValuesOf('timeZone').find((each) => each.toLowerCase().split('/').at(-1) === wanted)
  if (zone === undefined) return null
  const there = timeAndDate({ ...present, timezone: zone })
  return zone === present.timezone ? `It’s ${there}.` : `In ${capitalise(tidy(place))} it’s ${there}.`
}

const NOW =
  "(?: (?:is it|it is|is today|is this|it'?s|are we in|do we have))?(?: (?:right now|now|today|here|currently|at the moment))?"

const UNTIL = [
  /^how (?:many (?:days|(weeks))|long)(?: is it| are there| do i have| left| is left| to go)*(?: until| till| til| to| before) (?:it's |it is )?(.{2,60})$/,
  /^(?:days|(weeks)|time) (?:until|till) (.{2,60})$/,
]

/** The owner told the date earlier. */
function* countToTold(words: string, inWeeks: boolean, world: World): Steps {
  const date = yield* toldDate(words, world)
  return countDays(date, world.present, inWeeks) ?? (yield* lookUp(world.conversation.text, false, world))
}

/** Must come last, because timers and holidays are counted too. */
export const countIntent: Intent = on(UNTIL, ([weeks = '', words = ''], world) =>
  countToTold(words, weeks !== '', world),
)

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
    UNTIL,
    ([weeks = '', words = ''], { present }) =>
      countHours(words, present) ?? countDays(words, present, weeks !== ''),
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

/** A range of days as `YYYY-MM-DD`, inclusive, and hours of each, the last one exclusive. */
export type Days = { readonly from: string; readonly to: string; readonly hours: readonly [number, number] }

const HOURS: readonly (readonly [RegExp, readonly [number, number]])[] = [
  [/morning$/i, [0, 12]],
  [/afternoon$/i, [12, 18]],
  [/(?:evening|night)$/i, [17, 24]],
]

/** Days ago, from and to, by the words for a period. Weeks start on Monday. */
const PERIODS: Readonly<Record<string, (today: Date) => readonly [from: number, to: number]>> = {
  '(?:earlier )?today(?: so far)?|this (?:morning|afternoon|evening)|tonight': () => [0, 0],
  '(?:the )?day before yesterday': () => [2, 2],
  'yesterday(?: (?:morning|afternoon|evening|night))?|last night': () => [1, 1],
  'this week': (today) => [since(1, today), 0],
  'last week': (today) => [since(1, today) + 7, since(1, today) + 1],
  '(?:the )?(?:last|past) (?:week|few days|7 days)': () => [6, 0],
  'this month': (today) => [today.getUTCDate() - 1, 0],
  'last month': (today) => {
    const days = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 0)).getUTCDate()
    return [today.getUTCDate() - 1 + days, today.getUTCDate()]
  },
  '(?:the )?(?:last|past) (?:month|30 days)': () => [29, 0],
  ...Object.fromEntries(
    WEEKDAYS.flatMap((day, index) => [
      [`(?:this )?${day}`, (today: Date) => [since(index, today), since(index, today)]],
      [`last ${day}`, (today: Date) => [since(index, today) || 7, since(index, today) || 7]],
    ]),
  ),
}

/** Days since the last such weekday; 0 if it is today. */
const since = (weekday: number, today: Date) => (today.getUTCDay() - weekday + 7) % 7

export const PERIOD = `(?:${Object.keys(PERIODS).join('|')})`

const periods = Object.entries(PERIODS).map(
  ([name, days]) => [new RegExp(`^(?:${name})$`, 'i'), days] as const,
)

/** The days of a period that `PERIOD` matches. */
export function daysOf(words: string, present: Present): Days {
  const period = periods.find(([pattern]) => pattern.test(words))
  const [from, to] = period?.[1](new Date(today(present))) ?? [0, 0]
  const day = (ago: number) => addDays(dayIn(present.timezone, present.now), -ago)
  const [, hours = [0, 24] as const] = HOURS.find(([part]) => part.test(words)) ?? []
  return { from: day(from), to: day(to), hours }
}
