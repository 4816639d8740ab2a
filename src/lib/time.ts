import { dateFormat, knownZone } from './date-format.ts'
import { offsetMsBy, wallClockFormat } from './zone-offset.ts'

const TIME = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?)?([Zz]|[+-]\d{2}:?\d{2})?$/

/**
 * The instant of an ISO 8601 time; null if invalid. Without an offset it is local time in the zone. A local
 * time that daylight saving skips moves forward by the gap; of a repeated one, the first is meant.
 */
export function toInstant(text: string, timezone: string): Date | null {
  const match = TIME.exec(text.trim())
  if (!match) return null
  const [fraction, offset] = match.slice(7)
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const ms = Math.trunc(Number(`0${fraction ?? ''}`) * 1000)
  const wallMs = Date.UTC(year, month - 1, day, hour, minute, second, ms)
  if (new Date(wallMs).getUTCMonth() !== month - 1 || hour > 23 || minute > 59 || second > 59) return null
  const instant = offset === undefined ? fromWallClock(wallMs, timezone) : withOffset(wallMs, offset)
  // Later years have no four-digit form.
  return instant === null || instant.getUTCFullYear() > LAST_YEAR ? null : instant
}

const LAST_YEAR = 9999

function withOffset(wallMs: number, offset: string): Date | null {
  const [, sign, hours = 0, minutes = 0] = /^([+-])(\d{2}):?(\d{2})$/.exec(offset) ?? []
  if (Number(hours) > 23 || Number(minutes) > 59) return null
  const ms = (Number(hours) * 60 + Number(minutes)) * 60_000
  return new Date(wallMs + (sign === '-' ? ms : -ms))
}

/** The instant at which the zone's wall clock shows what UTC shows at `wallMs`. */
export function fromWallClock(wallMs: number, timezone: string): Date {
  // Try the offsets of the day before and after. One fits unless the time is skipped; the larger offset gives
  // the earlier instant.
  const before = wallMs - offsetMs(wallMs - DAY_MS, timezone)
  const after = wallMs - offsetMs(wallMs + DAY_MS, timezone)
  const fits = [before, after]
    .sort((a, b) => a - b)
    .find((instantMs) => instantMs + offsetMs(instantMs, timezone) === wallMs)
  return new Date(fits ?? before)
}

/** "Tuesday, 2 June 2026 at 14:05". */
export function formatLocal(at: Date, timezone: string): string {
  const timeZone = knownZone(timezone)
  return dateFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone }).format(at)
}

const DAY_MS = 86_400_000

function offsetMs(instantMs: number, timezone: string): number {
  return offsetMsBy(wallClockFormat(timezone), instantMs)
}
