import { dayNumber } from './format.ts'

const minuteMs = 60_000
const hourMs = 3_600_000
const daysAMonth = 365.25 / 12

const counted = new Intl.RelativeTimeFormat('en', { numeric: 'always' })
/** Only for days: "next month" would be wrong for a rounded distance. */
const named = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** "in 3 hours", "2 days ago", "just now". From 24 hours on, counts days of the owner's calendar. */
export function relativeText(at: string, now = new Date()): string {
  const distanceMs = Date.parse(at) - now.getTime()
  if (Number.isNaN(distanceMs)) return ''
  const minutes = Math.round(distanceMs / minuteMs)
  if (minutes === 0) return distanceMs < 0 ? 'just now' : 'now'
  if (Math.abs(minutes) < 60) return counted.format(minutes, 'minute')
  const hours = Math.round(distanceMs / hourMs)
  if (Math.abs(hours) < 24) return counted.format(hours, 'hour')
  const days = dayNumber(at) - dayNumber(now.toISOString())
  if (Math.abs(days) < 30) return named.format(days, 'day')
  const months = Math.round(days / daysAMonth)
  if (Math.abs(months) < 12) return counted.format(months, 'month')
  return counted.format(Math.round(months / 12), 'year')
}
