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

/** A cron expression in words for common patterns; others are returned unchanged. */
export function recurrenceText(expression: string): string {
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
  if (month !== '*') {
    // A leap year, so that every date exists.
    const day = new Date(Date.UTC(2024, Number(month) - 1, Number(date)))
    const isDate = weekday === '*' && day.getUTCMonth() === Number(month) - 1
    return isDate ? msg`Every year on ${dayOfYear.format(day)} ${at}` : expression
  }
  if (date === '*') {
    const days = daysText(weekday)
    return days === null ? expression : `${days} ${at}`
  }
  if (weekday === '*' && date === 'L') return msg`Every month on the last day ${at}`
  if (weekday === '*' && isWithin(date, 1, 31)) return msg`Every month on day ${date} ${at}`
  return expression
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
  const days = upper.split(',').map(dayName)
  return days.every((day) => day !== undefined) ? msg`Every ${listText(days)}` : null
}

const cronDays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

function dayName(day: string): string | undefined {
  return weekdays[/^[0-7]$/.test(day) ? Number(day) % 7 : cronDays.indexOf(day)]
}
