import { dateFormat, knownZone } from '../../clock/date-format.ts'

/** The wall clock at an instant: what a person in the zone would read off. */
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

/** A wall clock as ISO 8601 without an offset; whoever takes it knows the zone, and its daylight saving. */
export function toLocalIso({ year, month, day, hour, minute }: WallClock): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}`
}

/** For comparing and for moving by days or hours; no instant. */
export function toWallMs({ year, month, day, hour, minute }: WallClock): number {
  return Date.UTC(year, month - 1, day, hour, minute)
}

export function fromWallMs(wallMs: number): WallClock {
  return wallClock(new Date(wallMs), 'UTC')
}

/** "14:05 on Tuesday, 2 June 2026". */
export function tellMoment(at: Date, timezone: string): string {
  const timeZone = knownZone(timezone)
  const time = dateFormat('en-GB', { timeStyle: 'short', timeZone }).format(at)
  const date = dateFormat('en-GB', { dateStyle: 'full', timeZone }).format(at)
  return `${time} on ${date}`
}

/** A day as `YYYY-MM-DD` in words: "2 June 2026". */
export function tellDay(day: string): string {
  return tellShort(`${day}T12:00:00Z`, 'UTC').split(',')[0] ?? day
}

/** "2 June 2026, 14:05"; the text itself where it is no time. */
export function tellShort(at: string, timezone: string): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return at
  const format = { dateStyle: 'long', timeStyle: 'short', timeZone: knownZone(timezone) } as const
  return dateFormat('en-GB', format).format(date).replace(' at ', ', ')
}
