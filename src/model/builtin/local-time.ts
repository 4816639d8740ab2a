import { localeOf } from '../../language/languages.ts'
import { DAY_MS, dateFormat, dayIn, wallClockMs } from '../../lib/time.ts'
import type { Clock, Present } from './intent.ts'

/** What the owner's clock shows, as `wallClockMs`. */
export const wallMs = ({ now, timezone }: Clock) => wallClockMs(now, timezone)

export const midnightOf = (ms: number) => Math.floor(ms / DAY_MS) * DAY_MS

/** Midnight of today, in `wallMs` units. */
export const today = (clock: Clock) => midnightOf(wallMs(clock))

export function formatTime(at: Date, { timezone, language }: Present): string {
  return dateFormat(localeOf(language), { timeStyle: 'short', timeZone: timezone }).format(at)
}

/** "Tuesday, 2 June", with the year unless it is the current one; in figures where the sentence around it is foreign. */
export function formatDate(at: Date, { now, timezone, language }: Present): string {
  const locale = localeOf(language)
  if (!locale.startsWith('en'))
    return dateFormat(locale, { dateStyle: 'medium', timeZone: timezone }).format(at)
  const yearOf = (date: Date) => dayIn(timezone, date).slice(0, 4)
  const format = dateFormat(locale, {
    ...{ weekday: 'long', day: 'numeric', month: 'long', timeZone: timezone },
    ...(yearOf(at) === yearOf(now) ? {} : { year: 'numeric' }),
  })
  // This locale gives "Tuesday 2 June".
  return format.format(at).replace(/^(\p{L}+),? /u, '$1, ')
}

/** Days from today; negative for the past. */
export const daysUntil = (at: Date, present: Present) =>
  Math.round((today({ ...present, now: at }) - today(present)) / DAY_MS)

/** "today", "yesterday", "tomorrow", or "on Tuesday, 2 June". */
export function formatDay(at: Date, present: Present): string {
  const days = daysUntil(at, present)
  const near = days === 0 ? 'today' : days === 1 ? 'tomorrow' : days === -1 ? 'yesterday' : null
  return near ?? `on ${formatDate(at, present)}`
}

/** "tomorrow at 09:00", "on Tuesday, 2 June at 14:05". */
export function formatMoment(at: Date, present: Present): string {
  return `${formatDay(at, present)} at ${formatTime(at, present)}`
}

/** Formats a recorded moment; null if it is invalid. */
export function formatRecorded(
  at: string | null | undefined,
  present: Present,
  format = formatMoment,
): string | null {
  const date = new Date(at ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? null : format(date, present)
}

/** Null if invalid. A bare `YYYY-MM-DD` is the same day in any zone. */
export function formatRecordedDay(at: string | null, present: Present): string | null {
  const isBare = at !== null && at.length <= 10
  const now = isBare ? new Date(wallMs(present)) : present.now
  const timezone = isBare ? 'UTC' : present.timezone
  return formatRecorded(at, { ...present, now, timezone }, formatDay)
}
