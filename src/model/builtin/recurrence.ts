import type { ParsedResult } from 'chrono-node'
import { parseDates } from '../../text/dates.ts'
import { joinWords } from './text.ts'

/** A recurrence as cron and in words, or why it is not possible. `rest` is the remaining text. */
export type Recurrence =
  | { readonly kind: 'every'; readonly cron: string; readonly words: string; readonly rest: string }
  | { readonly kind: 'impossible'; readonly why: string }

export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
)
const COUNTS: Readonly<Record<string, number>> = {
  ...{ half: 0.5, quarter: 0.25, two: 2, three: 3, four: 4, five: 5, six: 6, eight: 8, ten: 10, twelve: 12 },
  ...{ fifteen: 15, twenty: 20, thirty: 30 },
}
const COUNTED = Object.keys(COUNTS).join('|')
const PLACE = '(?:first|second|third|fourth|last|[1-4](?:st|nd|rd|th))'
const PART = '(?:morning|afternoon|evening|night)'
const DAY = '(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:days?)?'
const DAY_LIST = `${DAY}(?:(?:,? and |, ?)${DAY}){0,6}`
const NTH = '(\\d{1,2})(?:st|nd|rd|th)?'
const MONTH = '(jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}'

/** The day fields of a cron expression, and the same in words. */
type Rhythm = { readonly fields: string; readonly words: string }
const impossible = (why: string): Recurrence => ({ kind: 'impossible', why })
const UNEVEN = impossible(
  'I can repeat daily, weekly, monthly, yearly, or at intervals that divide an hour or a day, but not skip any.',
)
const TIMES_UNKNOWN = impossible(
  'I need the times themselves, such as “every day at 8 am and 8 pm” or “every Monday at 9”.',
)
const LAST_DAY: Rhythm = { fields: 'L * *', words: 'on the last day of every month' }
const BOUNDED = impossible(
  'I can’t repeat a reminder only from or until some time. Leave that out, and cancel it when it is over.',
)
const EXCEPTING = impossible(
  'I can’t leave out days. Please name all the others, as in “every Monday and Friday at 9”.',
)
export const SEVERAL_TIMES = impossible(
  'Two different times need two reminders. Please ask for each of them.',
)

type Reader = Rhythm | Recurrence | ((groups: readonly string[]) => Rhythm | Recurrence | null)

/** Patterns and their recurrences; the first match wins. */
const RULES: Readonly<Record<string, Reader>> = {
  '(?:every|each) (?:([a-z]+|\\d{1,3}) (?:an? )?)?(minute|min|hour|hr)s?|(hourly)': interval,
  [`(?:every|each) (?:other|second|third|\\d{1,3}|two|three|four|five|six|ten) (?:days?|weeks?|months?|years?|${DAY})|fortnightly|biweekly`]:
    UNEVEN,
  [`(?:every|each) ${PLACE} ${DAY}|${PLACE} ${DAY} (?:of|in) (?:the|every|each) month`]: UNEVEN,
  '(?:(?:every|each|the) )?last day (?:of|in) (?:the|every|each) month|(?:every|each) last (?:day of )?the month|(?:at )?(?:the )?end of (?:every|each) month':
    LAST_DAY,
  [`(?:once|twice|(?:\\d{1,2}|${COUNTED}) times) (?:(?:an?|per|every|each) (?:hour|day|week|month|year)|daily|weekly)|(?:every|each) ${PART} and (?:every |each )?${PART}`]:
    TIMES_UNKNOWN,
  '(?:every|each) ?(?:week|working |work)days?|(?:on )?weekdays': {
    fields: '* * 1-5',
    words: 'every weekday',
  },
  '(?:every |each |on |at )?weekends|(?:every|each) weekend': {
    fields: '* * 0,6',
    words: 'every Saturday and Sunday',
  },
  [`(?:every|each|weekly on|every week on|each week on) (${DAY_LIST})|(?:on )?(?=[a-z]+days\\b)(${DAY_LIST})`]:
    daysOfWeek,
  '(?:every|each) (?:single )?(?:day|morning|afternoon|evening|night)|daily|nightly': {
    fields: '* * *',
    words: 'every day',
  },
  [`(?:(?:every|each)(?: year)?|yearly|annually)(?: on)?(?: the)? (?:${NTH}(?: of)? ${MONTH}|${MONTH} ${NTH})`]:
    yearly,
  [`(?:on )?the ${NTH} (?:day )?(?:of )?(?:every|each) month|(?:(?:every|each) month|monthly) on(?: the)? ${NTH}|(?:every|each) (\\d{1,2})(?:st|nd|rd|th)(?: of the month)?`]:
    monthly,
  '(?:on )?the first (?:day )?of (?:every|each) month|(?:at )?the (?:start|beginning) of (?:every|each) month|(?:every|each) first (?:day )?of the month|(?:every|each) month|monthly':
    monthly,
}
const PATTERNS = Object.entries(RULES).map(
  ([source, rhythm]) => [new RegExp(`\\b(?:${source})\\b`, 'i'), rhythm] as const,
)

const EXCEPT = new RegExp(
  `\\b(?:except|excluding|apart from|but not)(?: on| for)? (?:${DAY}|weekends?)\\b`,
  'i',
)

export function takeRecurrence(text: string, early: boolean): Recurrence | null {
  for (const [pattern, read] of PATTERNS) {
    const found = pattern.exec(text)
    if (!found) continue
    if (EXCEPT.test(text)) return EXCEPTING
    const groups = found.slice(1).map((group) => group ?? '')
    const rhythm = typeof read === 'function' ? read(groups) : read
    const rest = without(text, found[0])
    if (rhythm && isBounded(rest)) return BOUNDED
    if (rhythm && 'fields' in rhythm) return atClock(rest, found[0], rhythm, early)
    if (rhythm) return rhythm.kind === 'every' ? { ...rhythm, rest } : rhythm
  }
  return null
}

const FOR_SOME_TIME = new RegExp(
  `\\b(?:until|till|from (?=\\d)|for (?:(?:the next )?(?:\\d{1,3}|${COUNTED}) (?:days|weeks|months|years)|(?:a|one) (?:week|month|year))\\b)`,
  'i',
)

/** Whether a recurrence should begin or end some day: "until Friday", "from June", "for two weeks". */
function isBounded(rest: string): boolean {
  const isFrom = ({ index }: ParsedResult) =>
    /\b(?:through|starting|beginning|from)(?: on| at)? $/i.test(rest.slice(0, index))
  return FOR_SOME_TIME.test(rest) || parseDates(rest, EPOCH).some(isFrom)
}

/** Cron supports only intervals that divide an hour or a day. */
function interval([count = '', unit = 'hour']: readonly string[]): Recurrence | null {
  const every = count === '' ? 1 : (COUNTS[count.toLowerCase()] ?? Number(count))
  if (Number.isNaN(every)) return null
  const minutes = every * (unit.startsWith('m') ? 1 : 60)
  const hours = minutes / 60
  const words = (number: number, one: string) => `every ${number === 1 ? one : `${number} ${one}s`}`
  if (minutes >= 1 && minutes < 60 && 60 % minutes === 0)
    return { kind: 'every', cron: `*/${minutes} * * * *`, words: words(minutes, 'minute'), rest: '' }
  if (hours >= 1 && 24 % hours === 0) {
    const field = hours === 1 ? '*' : hours === 24 ? '0' : `*/${hours}`
    return { kind: 'every', cron: `0 ${field} * * *`, words: words(hours, 'hour'), rest: '' }
  }
  return UNEVEN
}

function daysOfWeek([every = '', plural = '']: readonly string[]): Rhythm {
  const starts = (every || plural).toLowerCase().match(/\b(?!and)[a-z]{3}/g) ?? []
  const numbers = starts.map((start) => WEEKDAYS.findIndex((day) => day.toLowerCase().startsWith(start)))
  const sorted = [...new Set(numbers)].sort()
  return {
    fields: `* * ${sorted.join(',')}`,
    words: `every ${joinWords(sorted.map((number) => WEEKDAYS[number] ?? ''))}`,
  }
}

function yearly([day1 = '', month1 = '', month2 = '', day2 = '']: readonly string[]): Rhythm | null {
  const start = (month1 || month2).slice(0, 3).toLowerCase()
  const month = MONTHS.findIndex((name) => name.toLowerCase().startsWith(start))
  const day = Number(day1 || day2)
  return isDay(day)
    ? { fields: `${day} ${month + 1} *`, words: `every year on ${day} ${MONTHS[month]}` }
    : null
}

function monthly(groups: readonly string[]): Rhythm | null {
  const day = Number(groups.find((each) => each !== '') ?? 1)
  // Five months have no 31st.
  if (day === 31) return LAST_DAY
  return isDay(day) ? { fields: `${day} * *`, words: `on day ${day} of every month` } : null
}

const isDay = (day: number) => day >= 1 && day <= 31

/** The hour that stands for a part of the day. */
export const PARTS_OF_DAY: readonly (readonly [RegExp, number])[] = [
  [/morning/i, 9],
  [/afternoon/i, 15],
  [/evening/i, 19],
  [/night/i, 21],
]

const EPOCH = { at: new Date(0), timezone: 'UTC' } as const

/** Adds the times of day in the text to a recurrence. */
function atClock(text: string, phrase: string, { fields, words }: Rhythm, early: boolean): Recurrence {
  const part = PARTS_OF_DAY.find(([name]) => name.test(`${phrase} ${text}`))?.[1]
  const clocks = parseDates(text, EPOCH).filter(({ start }) => start.isCertain('hour'))
  const times = clocks.map(({ start }) => {
    const hour = start.get('hour') ?? 9
    const isExact = start.isCertain('meridiem') || hour === 0 || hour >= 12
    const isLate = !isExact && (part === undefined ? hour <= 6 && !early : part > 12 && hour > 4)
    return { hour: isLate ? hour + 12 : hour, minute: start.get('minute') ?? 0 }
  })
  const [first = { hour: part ?? 9, minute: 0 }] = times
  if (times.some(({ minute }) => minute !== first.minute)) return SEVERAL_TIMES
  const hours = [...new Set([first, ...times].map(({ hour }) => hour))].sort((a, b) => a - b)
  const clockTimes = hours.map((hour) => `${two(hour)}:${two(first.minute)}`)
  const rest = clocks
    .reduce((left, { text: clock }) => without(left, clock), text)
    .replace(/\b(?:in the )?(?:mornings?|afternoons?|evenings?)\b|\bat night\b/i, ' ')
    .trim()
    // Drop the words that joined the times to the rest.
    .replace(/^(?:at|and|by)\b ?|\b(?:at|and|by)$/gi, '')
  return {
    kind: 'every',
    cron: `${first.minute} ${hours.join(',')} ${fields}`,
    words: `${words} at ${joinWords(clockTimes)}`,
    rest,
  }
}

const two = (value: number) => String(value).padStart(2, '0')

function without(text: string, words: string): string {
  return text.replace(words, ' ').replace(/ {2,}/g, ' ').trim()
}
