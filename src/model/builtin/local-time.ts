import { dateFormat, knownZone } from '../../clock/date-format.ts'
import type { Present } from './intent.ts'

/** What a clock and a calendar in some zone show. */
export type WallClock = {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
}

export function wallClock(at: Date, timezone: string): WallClock {
  const format = dateFormat('en-GB', {
    timeZone: knownZone(timezone),
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts
  return { year, month, day, hour, minute }
}

/** A wall clock as ISO 8601 without an offset. Tools read it in the owner's zone, which settles daylight saving. */
export function toLocalIso(clock: WallClock): string {
  return new Date(toWallMs(clock)).toISOString().slice(0, 16)
}

/** For comparing and moving wall clocks; no instant. */
export function toWallMs({ year, month, day, hour, minute }: WallClock): number {
  return Date.UTC(year, month - 1, day, hour, minute)
}

export function fromWallMs(wallMs: number): WallClock {
  return wallClock(new Date(wallMs), 'UTC')
}

/** The owner's midnight, as `toWallMs` counts. */
export function today({ now, timezone }: Present): number {
  return toWallMs({ ...wallClock(now, timezone), hour: 0, minute: 0 })
}

export const DAY_MS = 86_400_000

export function tellTime(at: Date, timezone: string): string {
  return dateFormat('en-GB', { timeStyle: 'short', timeZone: knownZone(timezone) }).format(at)
}

/** "Tuesday, 2 June", with the year where it is not the present one. */
export function tellDate(at: Date, { now, timezone }: Present): string {
  const isThisYear = wallClock(at, timezone).year === wallClock(now, timezone).year
  const format = dateFormat('en-GB', {
    ...{ weekday: 'long', day: 'numeric', month: 'long', timeZone: knownZone(timezone) },
    ...(isThisYear ? {} : { year: 'numeric' }),
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
  const now = isBare ? new Date(toWallMs(wallClock(present.now, present.timezone))) : present.now
  return tellRecorded(at, { now, timezone: isBare ? 'UTC' : present.timezone }, tellDay)
}
