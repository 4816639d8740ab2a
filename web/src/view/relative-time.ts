const minuteMs = 60_000
const hourMs = 3_600_000
const dayMs = 86_400_000
const daysAMonth = 365.25 / 12

const counted = new Intl.RelativeTimeFormat('en', { numeric: 'always' })
/** For days alone: "next month" and "last year" are parts of the calendar, which a rounded distance does not name. */
const named = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/**
 * "in 3 hours", "2 days ago", "just now": roughly how far `at` is from `now`. Days are those of the local calendar, and
 * only from 24 hours on: tonight is "in 13 hours" and never "tomorrow".
 */
export function relativeText(at: string, now: Date): string {
  const distanceMs = Date.parse(at) - now.getTime()
  if (Number.isNaN(distanceMs)) return ''
  const minutes = Math.round(distanceMs / minuteMs)
  if (minutes === 0) return distanceMs < 0 ? 'just now' : 'now'
  if (Math.abs(minutes) < 60) return counted.format(minutes, 'minute')
  const hours = Math.round(distanceMs / hourMs)
  if (Math.abs(hours) < 24) return counted.format(hours, 'hour')
  const days = calendarDay(new Date(at)) - calendarDay(now)
  if (Math.abs(days) < 30) return named.format(days, 'day')
  const months = Math.round(days / daysAMonth)
  if (Math.abs(months) < 12) return counted.format(months, 'month')
  return counted.format(Math.round(months / 12), 'year')
}

/** Local days since 1970, whatever the clocks did in between. */
function calendarDay(date: Date): number {
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / dayMs
}

/** A moment in a time zone of its own, with the zone's name where it is not this browser's. */
export function zonedText(at: string, timeZone: string): string {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone
  const options: Intl.DateTimeFormatOptions = {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: 'numeric',
    minute: '2-digit',
    ...(new Date(at).getFullYear() === new Date().getFullYear() ? {} : { year: 'numeric' }),
    ...(timeZone === here ? {} : { timeZoneName: 'short' }),
  }
  try {
    return new Intl.DateTimeFormat(undefined, { ...options, timeZone }).format(new Date(at))
  } catch {
    // A zone that this browser does not know: the moment in its own.
    return new Intl.DateTimeFormat(undefined, { ...options, timeZoneName: 'short' }).format(new Date(at))
  }
}
