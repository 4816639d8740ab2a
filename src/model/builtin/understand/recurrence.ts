import { type Clock, readNumber, takeClock } from './clock.ts'

/** A recurrence as cron and in words, or why there is none. `rest` is the text without it. */
export type Recurrence =
  | { readonly kind: 'cron'; readonly cron: string; readonly words: string; readonly rest: string }
  | { readonly kind: 'impossible'; readonly why: string }

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]
const DAY = '(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:day)?s?'
const DAY_LIST = `${DAY}(?:(?:,? and |, ?| )${DAY}){0,6}`
const EVERY = '(?:every|each)'
const EVERY_DAYS = new RegExp(`\\b(?:${EVERY} |on )?(${DAY_LIST})\\b`, 'i')
const WEEKLY_ON = new RegExp(`\\b(?:weekly|${EVERY} week)(?: on)? (${DAY_LIST})\\b`, 'i')
const PART_OF_DAY: Readonly<Record<string, Clock>> = {
  morning: { hour: 8, minute: 0 },
  noon: { hour: 12, minute: 0 },
  afternoon: { hour: 15, minute: 0 },
  evening: { hour: 18, minute: 0 },
  night: { hour: 21, minute: 0 },
}
const DEFAULT_CLOCK: Clock = { hour: 9, minute: 0 }
const AGAIN =
  /\b(?:every|each|daily|hourly|weekly|monthly|yearly|annually|nightly|fortnightly|biweekly|weekdays|weekends|(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b/i

/** The recurrence in a text; null where it speaks of none. */
export function takeRecurrence(text: string): Recurrence | null {
  if (!AGAIN.test(text)) return null
  return takeInterval(text) ?? takeSkipping(text) ?? takeDays(text) ?? takeMonthly(text)
}

/** Every so many minutes or hours: cron can say those that divide an hour or a day. */
function takeInterval(text: string): Recurrence | null {
  const found =
    /\b(?:every|each) (?:(half|quarter)(?: an)? |([\d]{1,3}|[a-z]+(?:[- ]five)?) )?(minute|min|hour|hr)s?\b|\bhourly\b/i.exec(
      text,
    )
  if (!found) return null
  const [all, part, number, unit = 'hour'] = found
  const isHours = unit.toLowerCase().startsWith('h')
  const every = number === undefined ? 1 : readNumber(number)
  if (every === null) return null
  const minutes = part === undefined ? every * (isHours ? 60 : 1) : part.toLowerCase() === 'half' ? 30 : 15
  const rest = without(text, all)
  if (minutes >= 1 && minutes < 60 && 60 % minutes === 0) {
    return {
      kind: 'cron',
      cron: `*/${minutes} * * * *`,
      words: minutes === 1 ? 'every minute' : `every ${minutes} minutes`,
      rest,
    }
  }
  const hours = minutes / 60
  if (Number.isInteger(hours) && hours >= 1 && 24 % hours === 0) {
    const cron = hours === 24 ? '0 0 * * *' : hours === 1 ? '0 * * * *' : `0 */${hours} * * *`
    return { kind: 'cron', cron, words: hours === 1 ? 'every hour' : `every ${hours} hours`, rest }
  }
  return { kind: 'impossible', why: 'I can only repeat at intervals that divide an hour or a day evenly.' }
}

function takeSkipping(text: string): Recurrence | null {
  const isSkipping =
    /\b(?:every|each) (?:other|second|third|(?:\d{1,3}|two|three|four|five|six|ten) ?)(?:\s*)(?:day|week|month|year|(?:sun|mon|tues|wednes|thurs|fri|satur)day)s?\b|\bfortnightly\b|\bbiweekly\b/i
  return isSkipping.test(text)
    ? {
        kind: 'impossible',
        why: 'I can repeat daily, weekly, monthly or yearly, but not skip days or weeks in between.',
      }
    : null
}

function takeDays(text: string): Recurrence | null {
  const patterns: readonly [RegExp, (days: string) => { cron: string; words: string } | null][] = [
    [
      /\b(?:every|each) ?(?:week|working |work)days?\b|\bon weekdays\b|\bweekdays\b/i,
      () => ({ cron: '1-5', words: 'every weekday' }),
    ],
    [
      /\b(?:every|each) weekends?\b|\b(?:on |at )?weekends\b/i,
      () => ({ cron: '0,6', words: 'every Saturday and Sunday' }),
    ],
    [WEEKLY_ON, daysOfWeek],
    [
      /\b(?:every|each) (?:single )?(?:day|morning|noon|afternoon|evening|night)\b|\bdaily\b|\bnightly\b/i,
      () => ({ cron: '*', words: 'every day' }),
    ],
    [EVERY_DAYS, daysOfWeek],
  ]
  for (const [pattern, read] of patterns) {
    const found = pattern.exec(text)
    if (!found) continue
    // One day without "every" is a date: only "mondays" repeats by itself.
    const isPlural = /days\b/i.test(found[1] ?? '')
    if (pattern === EVERY_DAYS && !/^(?:every|each)/i.test(found[0]) && !isPlural) continue
    const days = read(found[1] ?? '')
    if (!days) continue
    return atTime(
      without(text, found[0]),
      found[0],
      (minute, hours) => `${minute} ${hours} * * ${days.cron}`,
      days.words,
    )
  }
  return null
}

function daysOfWeek(list: string): { cron: string; words: string } | null {
  const numbers = [
    ...new Set((list.match(/[a-z]+/gi) ?? []).map(dayNumber).filter((each) => each >= 0)),
  ].sort()
  if (numbers.length === 0) return null
  const names = numbers.map((number) => capitalised(DAYS[number] ?? ''))
  return { cron: numbers.join(','), words: `every ${joinWords(names)}` }
}

function dayNumber(word: string): number {
  const start = word.toLowerCase().slice(0, 3)
  return word.toLowerCase() === 'and' ? -1 : DAYS.findIndex((day) => day.startsWith(start))
}

function takeMonthly(text: string): Recurrence | null {
  const ofYear =
    /\b(?:every|each) (?:year )?(?:on )?(?:the )?(?:(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]{3,9})|([a-z]{3,9}) (\d{1,2})(?:st|nd|rd|th)?)\b|\b(?:yearly|annually)(?: on)?(?: the)? (?:(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]{3,9})|([a-z]{3,9}) (\d{1,2})(?:st|nd|rd|th)?)\b/i.exec(
      text,
    )
  const month =
    MONTHS.findIndex((name) => isMonth(name, ofYear?.[2] ?? ofYear?.[3] ?? ofYear?.[6] ?? ofYear?.[7])) + 1
  if (ofYear && month > 0) {
    const day = Number(ofYear[1] ?? ofYear[4] ?? ofYear[5] ?? ofYear[8])
    if (day < 1 || day > 31) return null
    return atTime(
      without(text, ofYear[0]),
      '',
      (minute, hours) => `${minute} ${hours} ${day} ${month} *`,
      `every year on ${day} ${capitalised(MONTHS[month - 1] ?? '')}`,
    )
  }
  const ofMonth =
    /\b(?:on )?the (\d{1,2})(?:st|nd|rd|th)? (?:day )?(?:of )?(?:every|each) month\b|\b(?:(?:every|each) month|monthly)(?: on)?(?: the)? (\d{1,2})(?:st|nd|rd|th)?(?![:.\d])(?! ?[ap]m)\b|\b(?:every|each) (\d{1,2})(?:st|nd|rd|th)(?: of the month)?\b|\b(?:on )?the first (?:day )?of (?:every|each) month\b|\b(?:every|each) month\b|\bmonthly\b/i.exec(
      text,
    )
  if (!ofMonth) return null
  const day = Number(ofMonth[1] ?? ofMonth[2] ?? ofMonth[3] ?? 1)
  if (day < 1 || day > 31) return null
  return atTime(
    without(text, ofMonth[0]),
    '',
    (minute, hours) => `${minute} ${hours} ${day} * *`,
    `every month on day ${day}`,
  )
}

function isMonth(name: string, word: string | undefined): boolean {
  return (
    word !== undefined && word.length >= 3 && name.startsWith(word.toLowerCase().replace(/^sept$/, 'sep'))
  )
}

function atTime(
  rest: string,
  phrase: string,
  cron: (minute: number, hours: string) => string,
  words: string,
): Recurrence {
  const part = /morning|noon|afternoon|evening|night/i.exec(`${phrase} ${rest}`)?.[0].toLowerCase()
  const early = part === 'morning' || /\bwake\b/i.test(rest)
  const twice = takeTwoClocks(rest)
  const once = twice ? null : takeClock(rest, { early })
  const isLate = part === 'evening' || part === 'night'
  const fallback = (part ? PART_OF_DAY[part] : undefined) ?? DEFAULT_CLOCK
  const clocks = (twice?.clocks ?? [once?.clock ?? fallback]).map((clock) =>
    once && isLate && clock.hour < 12 && clock.hour > 4 ? { ...clock, hour: clock.hour + 12 } : clock,
  )
  const [first = fallback] = clocks
  if (clocks.some(({ minute }) => minute !== first.minute)) {
    return {
      kind: 'impossible',
      why: 'Two different times of day need two timers: please ask for each of them.',
    }
  }
  const hours = [...new Set(clocks.map(({ hour }) => hour))].sort((a, b) => a - b)
  const times = hours.map((hour) => `${two(hour)}:${two(first.minute)}`)
  const title = (twice?.rest ?? once?.rest ?? rest).replace(
    /\b(?:in the )?(?:mornings?|afternoons?|evenings?)\b|\bat night\b/i,
    ' ',
  )
  return {
    kind: 'cron',
    cron: cron(first.minute, hours.join(',')),
    words: `${words} at ${joinWords(times)}`,
    rest: title.replace(/\s+/g, ' ').trim(),
  }
}

const ONE_CLOCK = '\\d{1,2}(?:[:.]\\d{2})?(?: ?(?:am|pm|a\\.m\\.?|p\\.m\\.?))?'
const TWO_CLOCKS = new RegExp(`\\b(?:at|by) (${ONE_CLOCK}) and (?:at )?(${ONE_CLOCK})(?=[\\s,.!?]|$)`, 'i')

function takeTwoClocks(text: string): { clocks: Clock[]; rest: string } | null {
  const found = TWO_CLOCKS.exec(text)
  if (!found) return null
  const clocks = [found[1], found[2]].map((each) => takeClock(`at ${each}`, { early: true })?.clock)
  const rest = without(text, found[0])
  return clocks.every((each) => each !== undefined) ? { clocks, rest } : null
}

const two = (value: number) => String(value).padStart(2, '0')

function without(text: string, phrase: string): string {
  return text.replace(phrase, ' ').replace(/\s+/g, ' ').trim()
}

function joinWords(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} and ${last}`
}

function capitalised(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}
