import type { ParsedResult } from 'chrono-node'
import { parseDates } from '../../text/dates.ts'
import { joinWords } from './text.ts'

/** A recurrence as cron and in words, or why it is not possible. `rest` is the remaining text. */
export type Recurrence =
  | { readonly kind: 'every'; readonly cron: string; readonly words: string; readonly rest: string }
  | { readonly kind: 'impossible'; readonly why: string }

export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
export const MONTHS =
  'January February March April May June July August September October November December'.split(' ')
const COUNTS: Readonly<Record<string, number>> = {
  ...{ half: 0.5, quarter: 0.25, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8 },
  ...{ nine: 9, ten: 10, twelve: 12, fifteen: 15, twenty: 20, thirty: 30 },
}
export const COUNTED = Object.keys(COUNTS).join('|')
export const PLACES = ['first', 'second', 'third', 'fourth']
export const PLACE = '(?:first|second|third|fourth|last|[1-4](?:st|nd|rd|th))'
const PLACE_LIST = `${PLACE}(?:(?:,? and |, ?)${PLACE}){0,3}`
const PART = '(?:morning|afternoon|evening|night)'
const DAY = '(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:days?)?'
const DAY_LIST = `${DAY}(?:(?:,? and |, ?)${DAY}){0,6}`
const OTHER = `(other|second|third|fourth|\\d{1,3}(?:st|nd|rd|th)?|${COUNTED})`
const NTH = '(\\d{1,2})(?:st|nd|rd|th)?'
const MONTH = '(jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}'

/** The day fields of a cron expression, and the same in words. */
type Rhythm = { readonly fields: string; readonly words: string }
const impossible = (why: string): Recurrence => ({ kind: 'impossible', why })
const UNEVEN = impossible(
  'I can repeat every few days, weeks or months, on days of the week, every year, or at intervals that divide an hour or a day.',
)
const TIMES_UNKNOWN = impossible(
  'I need the times themselves, such as “every day at 8 am and 8 pm” or “every Monday at 9”.',
)
const LAST_DAY: Rhythm = { fields: 'L * *', words: 'on the last day of every month' }
const BOUNDED = impossible(
  'I can repeat a reminder up to a last day, as in “until Friday” or “for two weeks”, but I can’t start it on a day or limit it to some hours.',
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
  [`(?:on )?(?:(?:the|every|each) )?(${PLACE_LIST}) (${DAY}) (?:of|in) (?:the|every|each) month|(?:every|each) (first|1st|last) (${DAY})|(?:(?:every|each) month|monthly) on(?: the)? (${PLACE_LIST}) (${DAY})`]:
    daysOfMonth,
  [`(?:on (${DAY_LIST}),? )?(?:(?:every|each) ${OTHER} ((?:week)?days?|weeks?|months?|weekends?|${PART}s?|${DAY_LIST})|((?:every|each) fortnight|fortnightly|biweekly|quarterly))(?: on(?: the)? (?:(${DAY_LIST})|${NTH}))?\\b`]:
    everyOther,
  '(?:every|each) (?:other|second|third|\\d{1,3}|[a-z]{2,9}) years?': UNEVEN,
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
  [`(?:every|each|weekly on|every week on|each week on) (${DAY_LIST})|(?:on )?(?:(?=[a-z]+days\\b)(${DAY_LIST})|(${DAY_LIST})(?= ${PART}s\\b))`]:
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
  `\\b(?:until|till|during|(?:from|between) (?=\\d)|for (?:(?:the next )?(?:\\d{1,3}|${COUNTED}) (?:days|weeks|months|years)|(?:a|one) (?:week|month|year))\\b)`,
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

function daysOfWeek(groups: readonly string[]): Rhythm {
  const named = groups.find((group) => group !== '') ?? ''
  const starts = named.toLowerCase().match(/\b(?!and)[a-z]{3}/g) ?? []
  const numbers = starts.map((start) => WEEKDAYS.findIndex((day) => day.toLowerCase().startsWith(start)))
  const sorted = [...new Set(numbers)].sort()
  return {
    fields: `* * ${sorted.join(',')}`,
    words: `every ${joinWords(sorted.map((number) => WEEKDAYS[number] ?? ''))}`,
  }
}

const IS_DAYS = new RegExp(`^(?:day|${PART})`)

/** "Every other Thursday", "every three months on the 5th". */
function everyOther(groups: readonly string[]): Rhythm | Recurrence {
  const [before = '', count = '', unit = '', named = '', after = '', date = ''] = groups.map((group) =>
    group.toLowerCase(),
  )
  const every = named ? (named === 'quarterly' ? 3 : 2) : countOf(count)
  const isOfMonths = named === 'quarterly' || unit.startsWith('month')
  const each = (one: string) => (every === 2 ? `every other ${one}` : `every ${every} ${one}s`)
  const isOfDays = IS_DAYS.test(unit)
  const isOfDates = isOfDays || isOfMonths
  const days = before || after || (isOfDates || unit.startsWith('week') ? '' : unit)
  if (!(every >= 2) || every > (isOfDays ? 99 : 12) || unit.startsWith('weekday')) return UNEVEN
  if (isOfDates ? days !== '' : date !== '') return UNEVEN
  if (isOfMonths) {
    const { fields, words } = monthly([date]) ?? LAST_DAY
    return { fields: fields.replace('*', `*%${every}`), words: words.replace('every month', each('month')) }
  }
  if (unit.startsWith('weekend')) return { fields: `* * 0,6%${every}`, words: each('weekend') }
  if (isOfDays) return { fields: `*%${every} * *`, words: each('day') }
  if (days === '') return { fields: `*%${7 * every} * *`, words: each('week') }
  const { fields, words } = daysOfWeek([days])
  const rhythm =
    every === 2 ? words.replace('every', 'every other') : words.replace('every', `${each('week')} on`)
  return { fields: `${fields}%${every}`, words: rhythm }
}

export function countOf(word: string): number {
  return { other: 2, second: 2, third: 3, fourth: 4 }[word] ?? COUNTS[word] ?? Number.parseInt(word, 10)
}

/** 0 stands for the last. */
export function placeOf(word: string): number {
  return word === 'last' ? 0 : PLACES.indexOf(word) + 1 || Number.parseInt(word, 10)
}

/** "The first Monday of every month", "the first and third Monday". */
function daysOfMonth(groups: readonly string[]): Rhythm {
  const [places = '', day = ''] = groups.filter((group) => group !== '').map((group) => group.toLowerCase())
  const weekday = WEEKDAYS.findIndex((name) => name.toLowerCase().startsWith(day.slice(0, 3)))
  const numbers = places.split(/,? and |, ?/).map(placeOf)
  const named = numbers.map((number) => PLACES[number - 1] ?? 'last')
  return {
    fields: `* * ${numbers.map((number) => `${weekday}#${number || 'L'}`).join(',')}`,
    words: `on the ${joinWords(named)} ${WEEKDAYS[weekday]} of every month`,
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
  [/(?<!fort)night/i, 21],
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
