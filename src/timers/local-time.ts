import { dateFormat } from '../clock/date-format.ts'

const LOCAL = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?$/

/**
 * The instant of an ISO 8601 time; one without an offset is local time in the zone. A local time that daylight
 * saving skips is moved on by the hour that it lacks; of one that it repeats, the first is meant. Null when it is
 * not a time.
 */
export function toInstant(text: string, timezone: string): Date | null {
  const match = LOCAL.exec(text.trim())
  if (!match) {
    const instant = new Date(text)
    return Number.isNaN(instant.getTime()) || !/[zZ]|[+-]\d{2}:?\d{2}$/.test(text.trim()) ? null : instant
  }
  const [year, month, day, hour, minute, second] = match.slice(1).map((part) => Number(part ?? 0))
  const wallMs = Date.UTC(year ?? 0, (month ?? 1) - 1, day ?? 1, hour ?? 0, minute ?? 0, second ?? 0)
  if (new Date(wallMs).getUTCMonth() !== (month ?? 1) - 1 || (hour ?? 0) > 23 || (minute ?? 0) > 59)
    return null
  // Of the offsets a day before and after, one is right unless the time is skipped; the larger one is the earlier instant.
  const before = wallMs - offsetMs(wallMs - DAY_MS, timezone)
  const after = wallMs - offsetMs(wallMs + DAY_MS, timezone)
  const fits = [before, after]
    .sort((a, b) => a - b)
    .find((instantMs) => instantMs + offsetMs(instantMs, timezone) === wallMs)
  return new Date(fits ?? before)
}

const DAY_MS = 86_400_000

/** How far the zone's wall clock is ahead of UTC at an instant. */
function offsetMs(instantMs: number, timezone: string): number {
  const parts = dateFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(new Date(instantMs))
  const part = (type: string) => Number(parts.find((each) => each.type === type)?.value)
  const wallMs = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  )
  return wallMs - Math.floor(instantMs / 1000) * 1000
}
