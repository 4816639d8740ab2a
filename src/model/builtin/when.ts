import type { ParsedResult } from 'chrono-node'
import { DAY_MS, dayOf } from '../../lib/time.ts'
import { parseDates } from '../../text/dates.ts'
import type { Clock } from './intent.ts'
import { midnightOf, wallMs } from './local-time.ts'
import {
  COUNTED,
  countOf,
  MONTHS,
  PARTS_OF_DAY,
  type Recurrence,
  SEVERAL_TIMES,
  takeRecurrence,
  WEEKDAYS,
} from './recurrence.ts'
import { HOURS, hourOf, toDigits, withDates, withPoints } from './time-phrases.ts'

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
  const when =
    takeEnding(plain, present, options.early) ??
    takeRecurrence(plain, options.early) ??
    takeMoment(plain, present, options.early)
  return when === null || when.kind === 'impossible' ? when : { ...when, rest: withPoints(when.rest) }
}

const UNTIL = /,? ?\b(?:until|till|through) (?:on )?/i
const FOR = new RegExp(
  `,? ?\\bfor (?:the next )?(an?|one|\\d{1,3}|${COUNTED}) (day|week|month|year)s?\\b`,
  'i',
)

/** A recurrence that ends: "every day at 8 until Friday", "for two weeks". Null for anything else. */
function takeEnding(text: string, present: Clock, early: boolean): Recurrence | null {
  const nowMs = wallMs(present)
  const dated = withDates(text, nowMs)
  const until = UNTIL.exec(dated)
  const from = until ? until.index + until[0].length : 0
  const [day] = until ? datesIn(dated.slice(from), present) : []
  const lasting = FOR.exec(text)
  if (until && day?.index === 0 && !day.start.isCertain('hour')) {
    const [head, tail] = [dated.slice(0, until.index), dated.slice(from + day.text.length)]
    return endingOn(head, tail, early, () => dayMs(day), nowMs)
  }
  if (!lasting) return null
  const [head, tail] = [text.slice(0, lasting.index), text.slice(lasting.index + lasting[0].length)]
  return endingOn(head, tail, early, (cron) => lastDayMs(lasting, cron, nowMs), nowMs)
}

/** An ending begins the text or follows the times: in "every Friday to rent a car for a week" it belongs to the task. */
function endingOn(
  head: string,
  tail: string,
  early: boolean,
  lastMs: (cron: string) => number,
  nowMs: number,
): Recurrence | null {
  const every = takeRecurrence(`${head} ${tail}`.replace(/ {2,}/g, ' ').trim(), early)
  if (every?.kind !== 'every') return null
  const before = takeRecurrence(head, early)
  const followsTimes = before?.kind === 'every' && lastWord(before.rest) !== lastWord(head)
  if (head.trim() !== '' && !followsTimes) return null
  const last = new Date(lastMs(every.cron))
  const year = last.getUTCFullYear() === new Date(nowMs).getUTCFullYear() ? '' : ` ${last.getUTCFullYear()}`
  const named = `${WEEKDAYS[last.getUTCDay()]} ${last.getUTCDate()} ${MONTHS[last.getUTCMonth()]}${year}`
  return {
    ...every,
    cron: `${every.cron} until ${dayOf(last.getTime())}`,
    words: `${every.words}, until ${named}`,
  }
}

const lastWord = (text: string) => text.trim().split(' ').at(-1)

const dayMs = ({ start }: ParsedResult) =>
  Date.UTC(start.get('year') ?? 0, (start.get('month') ?? 1) - 1, start.get('day') ?? 1)

/** The last day of a length of time, which begins today if one of the day's times is still to come. */
function lastDayMs([, count = '', unit = '']: RegExpExecArray, cron: string, nowMs: number): number {
  const [minute = '', hours = ''] = cron.split(' ')
  const lastTime = Number(hours.split(',').at(-1)) * HOUR_MS + Number(minute) * 60_000
  const first = new Date(midnightOf(nowMs) + (midnightOf(nowMs) + lastTime <= nowMs ? DAY_MS : 0))
  const number = countOf(count.toLowerCase()) || 1
  const isDays = /^[dw]/i.test(unit)
  if (isDays) return first.getTime() + (number * (/^w/i.test(unit) ? 7 : 1) - 1) * DAY_MS
  const months = number * (/^y/i.test(unit) ? 12 : 1)
  const end = new Date(first)
  end.setUTCMonth(end.getUTCMonth() + months)
  // February has no 30th.
  if (end.getUTCDate() < first.getUTCDate()) end.setUTCDate(0)
  else end.setUTCDate(end.getUTCDate() - 1)
  return end.getTime()
}

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
  // "The day before and 2 hours before".
  if (BEFOREHAND.test(last.replace(/^(?:and|,) /i, '')))
    return { event: first || last, dueBefore: () => SEVERAL_TIMES }
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

const BEFORE_TIME = /\b(?:before )?(?:(?:by|before|around|about|on|at|for|sometime)(?: the)?|in the) ?$/i
const IN_MONTH = /\b(?:(?:by|before|around|about|on|at|for|in|sometime)(?: the)?|(?:in )?(?:early|late)) ?$/i
const MONTH_FIRST = new RegExp(`^(?:${MONTHS.join('|')})\\b`, 'i')

function takeMoment(text: string, present: Clock, early: boolean): When | null {
  const nowMs = wallMs(present)
  const dated = withDates(text, nowMs)
  const results = datesIn(dated, present)
  const result = results.find((each) => isAtEdge(each, dated)) ?? results[0]
  if (!result) return null
  const after = dated.slice(result.index + result.text.length)
  const head = dated.slice(0, result.index)
  if (hasAnother(after, present) || follows(results, result, dated)) return SEVERAL_TIMES
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
  const further = after.split(/ and (?:on )?/i).slice(1)
  if (further.some((text) => afterTime(text, present)?.startsWith(' to '))) return true
  const joint = /^(?:,| and| or) (?:and |again |on )*/i.exec(after)?.[0]
  return joint !== undefined && afterTime(after.slice(joint.length), present) !== null
}

/** What follows the time that a text starts with; null if it starts with none. */
function afterTime(text: string, present: Clock): string | null {
  const [first] = datesIn(text, present)
  return first?.index === 0 ? text.slice(first.text.length) : null
}

/** Whether another time comes just before: "tablets at 8 am and 8 pm". */
function follows(results: readonly ParsedResult[], { index }: ParsedResult, text: string): boolean {
  return results.some((other) => {
    const end = other.index + other.text.length
    return end < index && /^,? (?:and|or) (?:again )?(?:at |on )?$/i.test(text.slice(end, index))
  })
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
