import { listText } from '../design/format.ts'
import { msg } from '../design/msg.ts'

const weekdays = [
  msg`Sunday`,
  msg`Monday`,
  msg`Tuesday`,
  msg`Wednesday`,
  msg`Thursday`,
  msg`Friday`,
  msg`Saturday`,
]

/** A cron expression in words for common patterns; others are returned unchanged. */
export function recurrenceText(expression: string): string {
  const [minute = '', hour = '', date = '', month = '', weekday = '', ...rest] = expression
    .trim()
    .split(/\s+/)
  if (rest.length > 0 || month !== '*') return expression
  const everyDay = date === '*' && (weekday === '*' || weekday === '?')
  const step = /^\*\/(\d+)$/.exec(minute)?.[1]
  if (everyDay && hour === '*') {
    if (minute === '*') return msg`Every minute`
    if (step !== undefined && 60 % Number(step) === 0) return msg`Every ${step} minutes`
    if (isWithin(minute, 0, 59)) return minute === '0' ? msg`Every hour` : msg`Every hour, ${minute} past`
  }
  if (!isWithin(minute, 0, 59) || !isWithin(hour, 0, 23)) return expression
  const at = msg`at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`
  if (everyDay) return msg`Every day ${at}`
  if (date === '*') {
    const days = daysText(weekday)
    return days === null ? expression : `${days} ${at}`
  }
  if (weekday === '*' && isWithin(date, 1, 31)) return msg`Every month on day ${date} ${at}`
  return expression
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

function dayName(day: string): string | undefined {
  if (/^[0-7]$/.test(day)) return weekdays[Number(day) % 7]
  return /^[A-Z]{3}$/.test(day) ? weekdays.find((name) => name.toUpperCase().startsWith(day)) : undefined
}
