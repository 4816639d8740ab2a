import { DAY_MS, dayOf } from '../../lib/time.ts'
import { midnightOf } from './local-time.ts'
import { MONTHS, PLACE, placeOf, WEEKDAYS } from './recurrence.ts'

/** Amounts, which chrono-node takes for times ("pay 12.50 tomorrow"), are read as 12_50. */
const AMOUNT =
  /(?<!^|(?:\b(?:at|by|from|to|till|until|before|after|around|about)|day|tomorrow|tonight|morning|evening) |[\d.:])(\d{1,2})\.(\d{2})(?![\d.]| ?[ap]\.?m\b)/gi
export const withPoints = (text: string) => text.replace(/(\d)_(?=\d\d(?!\d))/g, '$1.')

export const HOURS = 'one two three four five six seven eight nine ten eleven twelve'.split(' ')
const HOUR = `(\\d{1,2}|${HOURS.join('|')})\\b`
export const hourOf = (word: string) => HOURS.indexOf(word.toLowerCase()) + 1 || Number(word)

/** Days with a name that chrono-node does not know. The first that matches wins. */
const HOLIDAYS: readonly (readonly [string, string])[] = [
  ['(?:christmas|xmas) eve', '24 December'],
  ['(?:christmas|xmas)(?: day)?', '25 December'],
  ['boxing day', '26 December'],
  ["new year['’]?s eve", '31 December'],
  ["new year(?:['’]?s day)?", '1 January'],
  ["valentine['’]?s(?: day)?", '14 February'],
  ['halloween', '31 October'],
]
const WHOLE_NAMES = HOLIDAYS.map(([name, date]) => [new RegExp(`^(?:${name})$`, 'i'), date] as const)
const ON_HOLIDAY = new RegExp(
  `(^|\\b(?:on|by|until|at|this) )(${HOLIDAYS.map(([name]) => name).join('|')})\\b`,
  'gi',
)

/** The date of a holiday; undefined for anything else. */
export function holiday(name: string): string | undefined {
  return WHOLE_NAMES.find(([pattern]) => pattern.test(name))?.[1]
}

/** Rewrites phrases that chrono-node does not know. */
const REWRITES: readonly (readonly [RegExp, string])[] = [
  // Filler words in dictation.
  [/(?<![\p{L}'-])(?:uh|uhm|um|erm|hmm),? /giu, ''],
  [/\blater (?:on )?today\b/gi, 'today'],
  [/\btom+or+ow\b/gi, 'tomorrow'],
  [/\bthe (\d{1,2}(?:st|nd|rd|th)(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))/gi, '$1'],
  [/(?<!the )\bday after tomorrow\b/gi, 'the day after tomorrow'],
  [/\b(?:an|one) hour and a half\b/gi, '90 minutes'],
  [/\bhalf an hour\b/gi, '30 minutes'],
  [/\b(?:a )?quarter of an hour\b/gi, '15 minutes'],
  [/\b(?:a|one) fortnight\b/gi, '2 weeks'],
  [/\b(in|for) (\d{1,2})h(\d{2})\b/gi, '$1 $2 hours $3 minutes'],
  [/\bat (\d{1,2})h(\d{2})\b/gi, 'at $1:$2'],
  [/\bin (\d{1,3})(?=$| to\b)/gi, 'in $1 minutes'],
  [/\b(?:around|by) (?=\d{1,2}(?::\d{2})?(?:$|,| to\b))/gi, 'at '],
  [/\bbetween (?=\d[^.]{0,12} and \d)/gi, 'from '],
  [/\b(from \d{1,2}(?::\d{2})?(?: ?[ap]m)?) and (?=\d)/gi, '$1 to '],
  [/\bthe week after next\b/gi, 'in 2 weeks'],
  [/\b(weeks?|months?|years?|days?) from today\b/gi, '$1 from now'],
  [/\bmid[- ](?=(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b)/gi, '15 '],
  [/\bat lunch ?time\b/gi, 'at noon'],
  [/\b(to(?:day|morrow)|[a-z]+day) lunch ?time\b/gi, '$1 at noon'],
  [/\bfirst thing (?=tomorrow|on [a-z]+day|(?:in the|this) morning)/gi, ''],
  [/\b(at|by) ([01]\d|2[0-3])([0-5]\d)(?=$|,| (?:to|on|today|tomorrow|tonight)\b)/gi, '$1 $2:$3'],
  [/^(\d{1,2})\.([0-5]\d)\b(?! ?[ap]\.?m)/gi, 'at $1:$2'],
  [/(\d)ish\b/gi, '$1'],
  [/\bend of (?:the|this) week\b/gi, 'Friday'],
  [/\b(?:the )?end of (?=(?:jan|mar|may|jul|aug|oct|dec)[a-z]*\b)/gi, '31 '],
  [/\b(?:the )?end of (?=(?:apr|jun|sep|nov)[a-z]*\b)/gi, '30 '],
  [/\b(?:the )?end of (?=feb[a-z]*\b)/gi, '28 '],
  [/\b(\d{1,4})[ -](second|minute|hour)s?[ -](?=timer|alarm|countdown|reminder)/gi, 'in $1 $2s '],
  [/\b(\d{1,2}) ([0-5]\d)(?= ?[ap]\.?m\b)/gi, '$1:$2'],
  [/(\d) (?:(?:in the|this) (?:afternoon|evening)|at night)\b/gi, '$1 pm'],
  [/\b([a-z]+day|tomorrow) in the (?=(?:morning|afternoon|evening)\b)/gi, '$1 '],
]
const PAST_OR_TO = new RegExp(
  `\\b(?<!from )(?:half(?: past)?|(?:a )?(quarter|\\d{1,2}(?: minutes)?) (past|to)) ${HOUR}(?! (?:of )?(?:${[...MONTHS, ...MONTHS.map((name) => name.slice(0, 3))].join('|')})\\b)`,
  'gi',
)
/** chrono-node needs an "at" before the second of two hours. */
const AND_HOUR = /\b(at \d{1,2}(?::\d{2})?) (?:and|or) (?=\d{1,2}(?::\d{2})?(?:,| to\b|$))/gi
const AT_HOUR = new RegExp(`\\b(at|by|around|about|before|until) (${HOURS.join('|')})\\b`, 'gi')

/** chrono-node reads "tomorrow evening at 8", but not "at 8 tomorrow evening". */
const CLOCK_FIRST =
  /\b(?:at |by )?(\d{1,2}(?::\d{2})?(?: ?[ap]\.?m\.?)?)(?: o['’]?clock)? ((?:on |this |next )?(?:[a-z]+day|tomorrow) (?:morning|afternoon|evening|night))\b/gi

/** Times and dates as chrono-node knows them. */
export function toDigits(text: string): string {
  return REWRITES.reduce((so, [from, to]) => so.replace(from, to), text.replace(AMOUNT, '$1_$2'))
    .replace(ON_HOLIDAY, (_, lead: string, name: string) => `${lead}${holiday(name)}`)
    .replace(PAST_OR_TO, (_, count: string | undefined, side: string | undefined, hour: string) => {
      const minutes = count === undefined ? 30 : Number.parseInt(count, 10) || 15
      const total = (hourOf(hour) * 60 + (side?.toLowerCase() === 'to' ? -minutes : minutes) + 1440) % 1440
      // "Quarter to one" is after noon.
      const ofDay = total < 60 && hourOf(hour) <= 12 ? total + 720 : total
      return `${Math.floor(ofDay / 60)}:${String(ofDay % 60).padStart(2, '0')}`
    })
    .replace(AT_HOUR, (_, word: string, hour: string) => `${word} ${hourOf(hour)}`)
    .replace(AND_HOUR, '$1 and at ')
    .replace(CLOCK_FIRST, '$2 at $1')
}

/** Turns phrases that count from today into dates. */
export const withDates = (text: string, nowMs: number) =>
  withWeeks(withMonth(withPlace(withYear(text, nowMs), nowMs), nowMs), nowMs)

const DAY_NAME = '(?:on |this )?((?:sun|mon|tues|wednes|thurs|fri|satur)day|today|tomorrow)'
const WEEKS = `(an?|\\d{1,2}|${HOURS.join('|')}) weeks?`
const WEEKS_ON = new RegExp(
  `\\b(?:(?:in )?${WEEKS} (?:from )?${DAY_NAME}|${DAY_NAME}(?: in ${WEEKS}| week))\\b`,
  'gi',
)

/** Turns "Friday week", "a week on Friday" and "Friday in two weeks" into a date, counted from the next Friday. */
function withWeeks(text: string, nowMs: number): string {
  return text.replace(WEEKS_ON, (_, ...groups: (string | undefined)[]) => {
    const name = (groups[1] ?? groups[2] ?? '').toLowerCase()
    const weekday = WEEKDAYS.findIndex((day) => day.toLowerCase() === name)
    const ahead = (weekday + 7 - new Date(nowMs).getUTCDay()) % 7 || 7
    const days = weekday >= 0 ? ahead : name === 'today' ? 0 : 1
    const weeks = hourOf(groups[0] ?? groups[3] ?? 'one') || 1
    return `on ${dayOf(nowMs + (days + 7 * weeks) * DAY_MS)}`
  })
}

const NEXT_YEAR = new RegExp(
  `\\b(?:in )?next year in (${MONTHS.join('|')})\\b|\\b(?:in )?((?:${MONTHS.join('|')})(?: \\d{1,2}(?:st|nd|rd|th)?)?),? (?:of )?next year\\b`,
  'i',
)

/** Names the year of "March next year", which chrono-node takes for the next March. */
function withYear(text: string, nowMs: number): string {
  const year = new Date(nowMs).getUTCFullYear() + 1
  return text.replace(NEXT_YEAR, (_, before?: string, after?: string) => `${before ?? after} ${year}`)
}

const PLACE_IN_MONTH = new RegExp(
  `\\b(?:on )?(?:the )?(${PLACE}) ((?:${WEEKDAYS.join('|')})) (?:of|in) (this month|next month|${MONTHS.join('|')})\\b`,
  'i',
)

/** Turns "the first Monday of next month" and "the last Friday in March" into a date. */
function withPlace(text: string, nowMs: number): string {
  return text.replace(PLACE_IN_MONTH, (_, place: string, weekday: string, named: string) => {
    const number = placeOf(place.toLowerCase())
    const now = new Date(nowMs)
    const month = MONTHS.findIndex((name) => name.toLowerCase() === named.toLowerCase())
    const ahead = month < 0 ? (/^n/i.test(named) ? 1 : 0) : (month + 12 - now.getUTCMonth()) % 12
    const wanted = WEEKDAYS.findIndex((name) => name.toLowerCase() === weekday.toLowerCase())
    const inMonths = (months: number) => {
      const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months + (number === 0 ? 1 : 0))
      const days = (wanted + 7 - new Date(first).getUTCDay()) % 7 || (number === 0 ? 7 : 0)
      return first + (days + 7 * (number - 1)) * DAY_MS
    }
    const isOver = month >= 0 && inMonths(ahead) < midnightOf(nowMs)
    return `on ${dayOf(inMonths(isOver ? 12 : ahead))}`
  })
}

/** Adds the month to "on the 15th": the current one, or the next if the day has passed or it is named. */
function withMonth(text: string, nowMs: number): string {
  return text.replace(
    /\b(?:on |by )?(?:[a-z]+day )?the (\d{1,2})(?:st|nd|rd|th)\b(?: of (?:(next)|this|the) month\b)?(?! of\b)/i,
    (all, day: string, next?: string) => {
      const now = new Date(nowMs)
      const month = now.getUTCMonth() + (next || Number(day) < now.getUTCDate() ? 1 : 0)
      const ms = Date.UTC(now.getUTCFullYear(), month, Number(day))
      return new Date(ms).getUTCDate() === Number(day) ? `on ${dayOf(ms)}` : all
    },
  )
}
