import { locale } from './msg.ts'

/**
 * Every time on the page is in the owner's time zone, in the page's language, on a 24-hour clock, as the service writes
 * times in its replies.
 */

const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The owner's time zone, stored on the document; the browser's until it is known. */
export function ownerZone(): string {
  return globalThis.document?.documentElement.dataset.timezone ?? browserZone
}

/** Ignores a zone that this browser does not know. */
export function setOwnerZone(zone: string): void {
  if (isZone(zone)) document.documentElement.dataset.timezone = zone
}

function isZone(zone: string): boolean {
  try {
    return Intl.DateTimeFormat(locale, { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Formats times in the owner's zone. Caches the formatter, which is expensive to create. */
export function ownerFormat(options: Intl.DateTimeFormatOptions, by = locale): (at: Date) => string {
  let zone = ''
  let format: Intl.DateTimeFormat | undefined
  return (at) => {
    const timeZone = ownerZone()
    if (!format || zone !== timeZone) {
      zone = timeZone
      format = new Intl.DateTimeFormat(by, { ...options, timeZone })
    }
    return format.format(at)
  }
}

/** A time in the given zone, with the zone's name unless it is the owner's. */
export function zonedText(at: string, timeZone: string): string {
  const date = new Date(at)
  const options: Intl.DateTimeFormatOptions = {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(date.getFullYear() === new Date().getFullYear() ? {} : { year: 'numeric' }),
  }
  if (timeZone === ownerZone() || !isZone(timeZone)) return ownerFormat(options)(date)
  return new Intl.DateTimeFormat(locale, { ...options, timeZone, timeZoneName: 'short' }).format(date)
}

/** Wall-clock time as a `datetime-local` input has it: `2026-06-10T08:00`. */
export function wallMinute(at: Date, timeZone = ownerZone()): string {
  // `sv` formats times as ISO 8601.
  const format = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'short', timeZone })
  return format.format(at).replace(' ', 'T')
}

/** The instant at which the wall clock shows this minute; null if `wall` is not a valid time. */
export function instantOf(wall: string, timeZone = ownerZone()): Date | null {
  const asUtcMs = Date.parse(`${wall}Z`)
  if (Number.isNaN(asUtcMs)) return null
  // Applied twice, because the offset at the first guess may differ from the one at the instant itself.
  const offsetMs = (atMs: number) => Date.parse(`${wallMinute(new Date(atMs), timeZone)}Z`) - atMs
  return new Date(asUtcMs - offsetMs(asUtcMs - offsetMs(asUtcMs)))
}
