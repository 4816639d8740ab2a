import type { ParsedResult } from 'chrono-node'
import { DAY_MS, dayOf } from '../../lib/time.ts'
import { parseDates } from '../../text/dates.ts'
import type { Clock } from './intent.ts'
import { midnightOf, wallMs } from './local-time.ts'
import {
  MONTHS,
  PARTS_OF_DAY,
  PLACE,
  placeOf,
  type Recurrence,
  SEVERAL_TIMES,
  takeRecurrence,
  WEEKDAYS,
} from './recurrence.ts'

/** When something should happen. `rest` is the text without the words for the time. */
export type When =
  | Recurrence
  | { readonly kind: 'in'; readonly seconds: number; readonly rest: string }
  /** Local time in the owner's zone, ISO 8601 without an offset. */
  | {
      readonly kind: 'at'
      readonly local: string
      /** Only a time of day was named, so the day is a guess. */
      readonly isClock: boolean
      /** No time of day was named, so that is a guess. */
      readonly isDay: boolean
      readonly rest: string
    }

/** Long texts slow down chrono-node, and times are short. */
const MAX_CHARS = 300
const HOUR_MS = 3_600_000

/** The first time, delay or recurrence in a text; null if there is none. With `early`, "six" is 6 am. */
export function takeWhen(text: string, present: Clock, options: { readonly early: boolean }): When | null {
  const plain = toDigits(text.slice(0, MAX_CHARS))
  const when = takeRecurrence(plain, options.early) ?? takeMoment(plain, present, options.early)
  return when === null || when.kind === 'impossible' ? when : { ...when, rest: withPoints(when.rest) }
}

/** Amounts, which chrono-node takes for times ("pay 12.50 tomorrow"), are read as 12_50. */
const AMOUNT =
  /(?<!^|(?:\b(?:at|by|from|to|till|until|before|after|around|about)|day|tomorrow|tonight|morning|evening) |[\d.:])(\d{1,2})\.(\d{2})(?![\d.]| ?[ap]\.?m\b)/gi
const withPoints = (text: string) => text.replace(/(\d)_(?=\d\d(?!\d))/g, '$1.')

const HOURS = 'one two three four five six seven eight nine ten eleven twelve'.split(' ')
const HOUR = `(\\d{1,2}|${HOURS.join('|')})\\b`
export const hourOf = (word: string) => HOURS.indexOf(word.toLowerCase()) + 1 || Number(word)

/** How long before an event. */
const BEFOREHAND = new RegExp(
  `(?:^|,? )(an?|the|\\d{1,3}|${HOURS.join('|')}) (min(?:ute)?|hour|day|week|month|morning|afternoon|evening|night)s? (?:before(?= |$)|(?:beforehand|ahead|earlier|in advance)(?=$| to ))`,
  'iu',
)
const AHEAD_MS: Readonly<Record<string, number>> = {
  min: 60_000,
  minute: 60_000,
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
}

/** A reminder before an event. */
export type Lead = {
  /** "my flight on Friday at 6"; "" if the text speaks of what was said before. */
  readonly event: string
  /** When it is due, if these words say when the event is; else null. `rest` is what to do, or else the event. */
  readonly dueBefore: (event: string) => When | null
}

/**
 * How long before an event to be reminded: "to pack, an hour before my flight on Friday at 6", "a day before the trip to
 * buy tickets", "my flight is on Friday at 6, the evening before". Null if the text says nothing of the kind.
 */
export function leadIn(said: string, present: Clock, early = false): Lead | null {
  const text = toDigits(said.slice(0, MAX_CHARS))
  const found = BEFOREHAND.exec(text)
  if (!found) return null
  const [all, count = '', unit = ''] = found
  const [first, last] = [text.slice(0, found.index), text.slice(found.index + all.length).trim()]
  const followsEvent = last === '' || /^to /i.test(last)
  // "Tomorrow at 9, call the shop a day before they close."
  if (!followsEvent && takeWhen(first, present, { early: false })) return null
  const beforeEvent = first === '' ? eventIn(last, present) : { event: last, what: first }
  // "The evening before to pack for the trip on Saturday" names the event last.
  const afterEvent =
    first === '' && datesIn(last, present).length > 0
      ? { event: last, what: '' }
      : { event: first, what: last }
  const { event, what } = followsEvent ? afterEvent : beforeEvent
  return {
    event,
    dueBefore(words) {
      const clock = words.replace(/^(?=\d{1,2}(?::\d{2})?$)/, 'at ')
      const at = takeWhen(joined(clock, present), present, { early })
      if (at?.kind !== 'at') return null
      const local = earlierThan(Date.parse(`${at.local}Z`), hourOf(count) || 1, unit.toLowerCase())
      return { ...at, local, isClock: false, isDay: false, rest: withPoints(what || at.rest) }
    },
  }
}

/** "My flight to Rome on Friday at 6 to pack": what to do follows the time, or the event if that has none. */
function eventIn(text: string, present: Clock): { readonly event: string; readonly what: string } {
  const [date] = datesIn(text, present)
  const from = date ? date.index + date.text.length : 0
  const at = text.slice(from).search(/ to \p{Ll}/u)
  return at < 0
    ? { event: text, what: '' }
    : { event: text.slice(0, from + at), what: text.slice(from + at + 1) }
}

function earlierThan(eventMs: number, count: number, unit: string): string {
  const due = new Date(eventMs)
  const part = PARTS_OF_DAY.find(([words]) => words.test(unit))?.[1]
  if (part !== undefined) due.setTime(midnightOf(eventMs) - DAY_MS + part * HOUR_MS)
  else if (unit === 'month') due.setUTCMonth(due.getUTCMonth() - count)
  else due.setTime(eventMs - count * (AHEAD_MS[unit] ?? 0))
  return due.toISOString().slice(0, 16)
}

/** Puts the time of day beside its day: "tomorrow I see Ann at 11". */
function joined(text: string, present: Clock): string {
  const results = datesIn(text, present)
  const clock = results.find(({ start }) => !start.isCertain('day') && !start.isCertain('weekday'))
  const day = results.find(({ start }) => !start.isCertain('hour'))
  if (!clock || !day || results.length !== 2) return text
  return text.replace(clock.text, '').replace(day.text, `${day.text} ${clock.text}`)
}

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
  [/\b(\d{1,4})[ -](second|minute|hour)s?[ -](?=timer|alarm|countdown|reminder)/gi, 'in $1 $2s '],
  [/\b(\d{1,2}) ([0-5]\d)(?= ?[ap]\.?m\b)/gi, '$1:$2'],
  [/(\d) (?:(?:in the|this) (?:afternoon|evening)|at night)\b/gi, '$1 pm'],
  [/\b([a-z]+day|tomorrow) in the (?=(?:morning|afternoon|evening)\b)/gi, '$1 '],
]
const PAST_OR_TO = new RegExp(
  `\\b(?<!from )(?:half(?: past)?|(?:a )?(quarter|\\d{1,2}(?: minutes)?) (past|to)) ${HOUR}`,
  'gi',
)
/** chrono-node needs an "at" before the second of two hours. */
const AND_HOUR = /\b(at \d{1,2}(?::\d{2})?) (?:and|or) (?=\d{1,2}(?::\d{2})?(?:,| to\b|$))/gi
const AT_HOUR = new RegExp(`\\b(at|by|around|about|before|until) (${HOURS.join('|')})\\b`, 'gi')

/** chrono-node reads "tomorrow evening at 8", but not "at 8 tomorrow evening". */
const CLOCK_FIRST =
  /\b(?:at |by )?(\d{1,2}(?::\d{2})?(?: ?[ap]\.?m\.?)?)(?: o['’]?clock)? ((?:on |this |next )?(?:[a-z]+day|tomorrow) (?:morning|afternoon|evening|night))\b/gi

function toDigits(text: string): string {
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

const BEFORE_TIME = /\b(?:before )?(?:(?:by|before|around|about|on|at|for|sometime)(?: the)?|in the) ?$/i
const IN_MONTH = /\b(?:(?:by|before|around|about|on|at|for|in|sometime)(?: the)?|(?:in )?(?:early|late)) ?$/i
const MONTH_FIRST = new RegExp(`^(?:${MONTHS.join('|')})\\b`, 'i')

function takeMoment(text: string, present: Clock, early: boolean): When | null {
  const nowMs = wallMs(present)
  const dated = withWeeks(withMonth(withPlace(withYear(text, nowMs), nowMs), nowMs), nowMs)
  const results = datesIn(dated, present)
  const result = results.find((each) => isAtEdge(each, dated)) ?? results[0]
  if (!result) return null
  const after = dated.slice(result.index + result.text.length)
  if (hasAnother(after, present)) return SEVERAL_TIMES
  const head = dated.slice(0, result.index)
  const before = head.replace(MONTH_FIRST.test(result.text) ? IN_MONTH : BEFORE_TIME, '')
  // "The second week of January", "tomorrow after lunch".
  if (/\b(?:week|half|part|beginning|start|middle|end) of (?:the )?$/i.test(before)) return null
  if (/^ (?:after|before) \p{L}/iu.test(after)) return null
  const rest = `${before} ${after}`.replace(/ {2,}/g, ' ').trim()
  if (result.tags().has('result/relativeDateAndTime')) {
    const seconds = Math.round((result.start.date().getTime() - present.now.getTime()) / 1000)
    return seconds > 0 ? { kind: 'in', seconds, rest } : null
  }
  const dueMs = resolve(result, nowMs, early)
  const isDay = !result.start.isCertain('hour')
  // On Friday, "before Friday" is over.
  const isBefore = isDay && /\bbefore(?: on| the)? ?$/i.test(head) && dueMs - DAY_MS > nowMs
  const local = new Date(isBefore ? dueMs - DAY_MS : dueMs).toISOString().slice(0, 16)
  const isClock = (['day', 'weekday', 'month'] as const).every((part) => !result.start.isCertain(part))
  return { kind: 'at', local, isClock, isDay, rest }
}

/** Whether a further time follows: "at 8 and at 20", "on Monday and Thursday", "at 5 to call Ann and at 6 to call Tom". */
function hasAnother(after: string, present: Clock): boolean {
  if (/ and at \d/i.test(after)) return true
  const joint = /^(?:,| and| or) (?:and |again |on )*/i.exec(after)?.[0]
  return joint !== undefined && datesIn(after.slice(joint.length), present)[0]?.index === 0
}

/** The dates and times in a text, except possessives ("Monday's paper"), "now" and "a day before the wedding". */
export function datesIn(text: string, { now, timezone }: Clock): ParsedResult[] {
  return parseDates(text, { at: now, timezone }, { forwardDate: true }).filter(({ index, text: words }) => {
    const after = text.slice(index + words.length)
    // Their date moves.
    if (/\b(?:easter|good|ash|palm|shrove) $/i.test(text.slice(0, index))) return false
    const isOfAnEvent = /\bbefore$/i.test(words) && /^ \p{L}/u.test(after)
    return !after.startsWith("'s") && !/^now$/i.test(words) && !isOfAnEvent
  })
}

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

/** A time at either end is a time; one in the middle may be part of a title. */
function isAtEdge({ index, text: words }: ParsedResult, text: string): boolean {
  return (
    /^(?:by|on|at|for|around|before)? ?$/i.test(text.slice(0, index)) ||
    /^[ .!,?]*$/.test(text.slice(index + words.length))
  )
}

/** "At 7" is the next seven o'clock; "Friday at 5" is in the afternoon, "Friday at 9" in the morning. */
function resolve({ start, text }: ParsedResult, nowMs: number, early: boolean): number {
  const [year, month, day] = [start.get('year') ?? 0, start.get('month') ?? 1, start.get('day') ?? 1]
  const dayMs = Date.UTC(year, month - 1, day)
  const part = PARTS_OF_DAY.find(([words]) => words.test(text))?.[1]
  if (!start.isCertain('hour')) {
    // "In two weeks" means this time of day; a bare date means its morning.
    const isRelative = part === undefined && /\b(?:in|from now|later|after)\b/i.test(text)
    const ms = dayMs + (isRelative ? nowMs - midnightOf(nowMs) : (part ?? 9) * HOUR_MS)
    // "Today", said in the afternoon, is in a few hours.
    if (ms <= nowMs && dayMs === midnightOf(nowMs) && part === undefined) return nowMs + 3 * HOUR_MS
    return ms <= nowMs && !start.isCertain('day') ? ms + DAY_MS : ms
  }
  const hour = start.get('hour') ?? 9
  const clockMs = hour * HOUR_MS + (start.get('minute') ?? 0) * 60_000
  const isExact = start.isCertain('meridiem') || part !== undefined || hour < 1 || hour > 11
  if (isExact || /(?<![\d-])0\d|noon/i.test(text)) return dayMs + clockMs
  const isEarlyHour = hour <= 6
  if (!start.isCertain('day') && !start.isCertain('weekday')) {
    if (early) return dayMs + clockMs
    const hours = isEarlyHour ? [12, 36] : [0, 12, 24]
    const nexts = hours.map((later) => midnightOf(nowMs) + clockMs + later * HOUR_MS)
    return nexts.find((ms) => ms > nowMs) ?? dayMs + clockMs
  }
  const [firstMs, lateMs] = [dayMs + clockMs, dayMs + clockMs + 12 * HOUR_MS]
  const isPast = firstMs <= nowMs && lateMs > nowMs
  return (isEarlyHour && !early) || isPast ? lateMs : firstMs
}
