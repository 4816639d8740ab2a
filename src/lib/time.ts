export const DAY_MS = 86_400_000

const formats = new Map<string, Intl.DateTimeFormat>()

/**
 * A cached formatter: creating one takes 40 µs, using it 1 µs. An unknown time zone counts as UTC, because a
 * wrong setting must not silence the delegate.
 */
export function dateFormat(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${locale} ${JSON.stringify(options)}`
  const format = formats.get(key) ?? createFormat(locale, options)
  formats.set(key, format)
  return format
}

function createFormat(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, options)
  } catch (error) {
    if (error instanceof RangeError) return new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
    throw error
  }
}

/** "Tuesday, 2 June 2026 at 14:05". */
export function formatLocal(at: Date | number, timezone: string): string {
  return dateFormat('en-GB', { dateStyle: 'full', timeStyle: 'short', timeZone: timezone }).format(at)
}

/** An instant as ISO 8601 on the clock of the zone: "2026-06-02T14:05:00.000+02:00". */
export function toLocalIso(at: Date | number, timezone: string): string {
  const minutes = Math.round(zoneOffsetMs(at, timezone) / 60_000)
  const clock = new Date(Number(at) + minutes * 60_000).toISOString().slice(0, -1)
  const two = (count: number) => String(Math.floor(count)).padStart(2, '0')
  const ahead = Math.abs(minutes)
  return `${clock}${minutes < 0 ? '-' : '+'}${two(ahead / 60)}:${two(ahead % 60)}`
}

/** How far a zone's clock is ahead of UTC. */
export function zoneOffsetMs(at: Date | number, timezone: string): number {
  const parts = dateFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' }).formatToParts(at)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  // Offsets of the 19th century have seconds.
  const [, sign, hours = 0, minutes = 0, seconds = 0] = /([+-])(\d+):(\d+)(?::(\d+))?/.exec(name) ?? []
  const offsetMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -offsetMs : offsetMs
}

/** What the zone's clock shows, in ms as if it were UTC. For comparison and arithmetic; not an instant. */
export function wallClockMs(at: Date | number, timezone: string): number {
  return Number(at) + zoneOffsetMs(at, timezone)
}

/**
 * The instant at which the zone's clock shows `wallMs`. A time that daylight saving skips moves forward by
 * the gap; of a repeated one, the first is meant.
 */
export function fromWallClock(wallMs: number, timezone: string): Date {
  const before = wallMs - zoneOffsetMs(wallMs - DAY_MS, timezone)
  const after = wallMs - zoneOffsetMs(wallMs + DAY_MS, timezone)
  const isShown = (instantMs: number) => wallClockMs(instantMs, timezone) === wallMs
  return new Date(isShown(before) || !isShown(after) ? before : after)
}

const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?(Z|[+-]\d{2}:?\d{2})?$/i

/** The instant of an ISO 8601 time; null if invalid. Without an offset it is local time in the zone. */
export function toInstant(text: string, timezone: string): Date | null {
  const [, day = '', time = '00:00', offset] = TIME.exec(text.trim()) ?? []
  const wallMs = Date.parse(`${day}T${time}Z`)
  // Date.parse turns 30 February into 2 March.
  if (Number.isNaN(wallMs) || dayOf(wallMs) !== day) return null
  const instant = offset === undefined ? fromWallClock(wallMs, timezone) : new Date(`${day}T${time}${offset}`)
  // Later years have no four-digit form.
  return instant.getUTCFullYear() <= 9999 ? instant : null
}

/** `YYYY-MM-DD` of a wall clock. */
export function dayOf(wallMs: number): string {
  return new Date(wallMs).toISOString().slice(0, 10)
}

/** The calendar day of an instant as `YYYY-MM-DD`. */
export function dayIn(timezone: string, at: Date | number): string {
  return dayOf(wallClockMs(at, timezone))
}

export function addDays(day: string, count: number): string {
  return dayOf(Date.parse(day) + count * DAY_MS)
}
