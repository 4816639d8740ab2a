import { listText } from '../design/format.ts'
import { locale, msg } from '../design/msg.ts'

const weekdays = [
  msg`Sunday`,
  msg`Monday`,
  msg`Tuesday`,
  msg`Wednesday`,
  msg`Thursday`,
  msg`Friday`,
  msg`Saturday`,
]

const dayOfYear = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', timeZone: 'UTC' })

const fullDay = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' })
const UNTIL = / until (\d{4}-\d{2}-\d{2})$/

/** A recurrence without its last day, and that day as YYYY-MM-DD; empty if it has none. */
export function lastDayOf(recurrence: string): { readonly expression: string; readonly lastDay: string } {
  return { expression: recurrence.replace(UNTIL, ''), lastDay: UNTIL.exec(recurrence)?.[1] ?? '' }
}

/** A recurrence in words for common patterns; others are returned unchanged. */
export function recurrenceText(recurrence: string): string {
  const { expression, lastDay } = lastDayOf(recurrence.trim())
  const words = expressionText(expression)
  const end = new Date(lastDay)
  return Number.isNaN(end.getTime()) ? words : msg`${words}, until ${fullDay.format(end)}`
}

function expressionText(expression: string): string {
  const [minute = '', hour = '', date = '', month = '', weekday = '', ...rest] = expression
    .trim()
    .split(/\s+/)
  if (rest.length > 0) return expression
  const everyDay = date === '*' && month === '*' && (weekday === '*' || weekday === '?')
  if (everyDay && hour === '*') {
    const step = stepOf(minute, 60)
    if (minute === '*') return msg`Every minute`
    if (step !== undefined) return msg`Every ${step} minutes`
    if (isWithin(minute, 0, 59)) return minute === '0' ? msg`Every hour` : msg`Every hour, ${minute} past`
  }
  const hours = hour.split(',')
  const step = stepOf(hour, 24)
  if (everyDay && minute === '0' && step !== undefined) return msg`Every ${step} hours`
  if (!isWithin(minute, 0, 59) || !hours.every((each) => isWithin(each, 0, 23))) return expression
  const at = msg`at ${listText(hours.map((each) => `${each.padStart(2, '0')}:${minute.padStart(2, '0')}`))}`
  if (everyDay) return msg`Every day ${at}`
  const [everyDays, everyMonths, everyWeeks] = [date, month, weekday].map(everyOf)
  if (everyDays && date.startsWith('*%') && month === '*' && weekday === '*')
    return msg`Every ${everyDays} days ${at}`
  if (everyMonths && month.startsWith('*%') && weekday === '*') {
    if (date === 'L') return msg`Every ${everyMonths} months on the last day ${at}`
    return isWithin(date, 1, 31) ? msg`Every ${everyMonths} months on day ${date} ${at}` : expression
  }
  if (month !== '*') {
    // A leap year, so that every date exists.
    const day = new Date(Date.UTC(2024, Number(month) - 1, Number(date)))
    const isDate = weekday === '*' && day.getUTCMonth() === Number(month) - 1
    return isDate ? msg`Every year on ${dayOfYear.format(day)} ${at}` : expression
  }
  if (date === '*' && everyWeeks) {
    const days = daysIn(weekday.split('%')[0] ?? '')
    return days === null ? expression : msg`Every ${everyWeeks} weeks on ${days} ${at}`
  }
  if (date === '*' && weekday.includes('#')) {
    const days = placesText(weekday)
    return days === null ? expression : msg`Every month on the ${days} ${at}`
  }
  if (date === '*') {
    const days = daysText(weekday)
    return days === null ? expression : `${days} ${at}`
  }
  if (weekday === '*' && date === 'L') return msg`Every month on the last day ${at}`
  if (weekday === '*' && isWithin(date, 1, 31)) return msg`Every month on day ${date} ${at}`
  return expression
}

/** How many days, months or weeks a field such as `*%3` or `4%2+1` steps over. */
function everyOf(field: string): string | undefined {
  return /%([1-9]\d?)(?:\+\d{1,2})?$/.exec(field)?.[1]
}

/** The step of a field with `*` and a step, if it divides the whole. */
function stepOf(field: string, whole: number): string | undefined {
  const step = /^\*\/(\d+)$/.exec(field)?.[1]
  return whole % Number(step) === 0 ? step : undefined
}

function isWithin(field: string, low: number, high: number): boolean {
  return /^\d{1,2}$/.test(field) && Number(field) >= low && Number(field) <= high
}

function daysText(field: string): string | null {
  const upper = field.toUpperCase()
  if (upper === '1-5' || upper === 'MON-FRI') return msg`Every weekday`
  if (upper === '0,6' || upper === '6,0' || upper === 'SAT,SUN') return msg`Every weekend day`
  const days = daysIn(upper)
  return days === null ? null : msg`Every ${days}`
}

function daysIn(field: string): string | null {
  const days = field.toUpperCase().split(',').map(dayName)
  return days.every((day) => day !== undefined) ? listText(days) : null
}

const places: Readonly<Record<string, string>> = {
  1: msg`first`,
  2: msg`second`,
  3: msg`third`,
  4: msg`fourth`,
  5: msg`fifth`,
  L: msg`last`,
}

/** “first and third Monday” of `1#1,1#3`. */
function placesText(field: string): string | null {
  const parts = field
    .toUpperCase()
    .split(',')
    .map((part) => part.split('#'))
  const day = dayName(parts[0]?.[0] ?? '')
  const named = parts.flatMap(([of, place = '']) => (of === parts[0]?.[0] ? (places[place] ?? []) : []))
  return day === undefined || named.length < parts.length ? null : `${listText(named)} ${day}`
}

const cronDays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

function dayName(day: string): string | undefined {
  return weekdays[/^[0-7]$/.test(day) ? Number(day) % 7 : cronDays.indexOf(day)]
}
