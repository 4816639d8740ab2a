import { dateFormat } from '../../clock/date-format.ts'
import type { Present } from './intent.ts'

export const DAY_MS = 86_400_000

/** What clock and calendar show, in milliseconds as if the zone were UTC: for comparing and moving, no instant. */
export function wallMs({ now, timezone }: Present): number {
  const format = dateFormat('en-GB', {
    timeZone: timezone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' },
  })
  const parts = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute)
}

/** The wall's time as ISO 8601 without an offset. Tools read it in the owner's zone, which settles daylight saving. */
export const toLocalIso = (ms: number) => new Date(ms).toISOString().slice(0, 16)

/** The wall's last midnight. */
export const midnightOf = (ms: number) => Math.floor(ms / DAY_MS) * DAY_MS

/** The owner's midnight, as `wallMs` counts. */
export const today = (present: Present) => midnightOf(wallMs(present))

export function tellTime(at: Date, timezone: string): string {
  return dateFormat('en-GB', { timeStyle: 'short', timeZone: timezone }).format(at)
}

/** "Tuesday, 2 June", with the year where it is not the present one. */
export function tellDate(at: Date, { now, timezone }: Present): string {
  const yearOf = (date: Date) => new Date(wallMs({ now: date, timezone })).getUTCFullYear()
  const format = dateFormat('en-GB', {
    ...{ weekday: 'long', day: 'numeric', month: 'long', timeZone: timezone },
    ...(yearOf(at) === yearOf(now) ? {} : { year: 'numeric' }),
  })
  // "Tuesday 2 June" in this locale.
  return format.format(at).replace(/^(\p{L}+),? /u, '$1, ')
}

/** "today", "yesterday", "tomorrow", or "on Tuesday, 2 June". */
export function tellDay(at: Date, present: Present): string {
  const days = Math.round((today({ ...present, now: at }) - today(present)) / DAY_MS)
  const near = days === 0 ? 'today' : days === 1 ? 'tomorrow' : days === -1 ? 'yesterday' : null
  return near ?? `on ${tellDate(at, present)}`
}

/** "tomorrow at 09:00", "on Tuesday, 2 June at 14:05". */
export function tellMoment(at: Date, present: Present): string {
  return `${tellDay(at, present)} at ${tellTime(at, present.timezone)}`
}

/** A recorded moment; null where it is none. */
export function tellRecorded(
  at: string | null | undefined,
  present: Present,
  tell = tellMoment,
): string | null {
  const date = new Date(at ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? null : tell(date, present)
}

/** The day of a recorded moment; a bare `YYYY-MM-DD` is a day in any zone. Null where it is none. */
export function tellRecordedDay(at: string | null, present: Present): string | null {
  const isBare = at !== null && at.length <= 10
  const now = isBare ? new Date(wallMs(present)) : present.now
  return tellRecorded(at, { now, timezone: isBare ? 'UTC' : present.timezone }, tellDay)
}
