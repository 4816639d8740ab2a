/**
 * The owner's clock. Every time on the page is in the owner's time zone, in English and by 24 hours, which is how the
 * service writes the times in its replies and on the pages that it renders itself.
 */

/** Of dates and numbers. The pages are in English, and some browsers report a locale that `Intl` rejects. */
export const locale = 'en-GB'
const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The document carries the zone, as it does the theme; until it is known, the browser's stands in. */
export function ownerZone(): string {
  return globalThis.document?.documentElement.dataset.timezone ?? browserZone
}

/** A zone that this browser does not know is not taken. */
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

/** Formats moments in the owner's zone; the format is made once a zone, which takes longer than using it. */
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

/** A moment in a zone of its own, with the zone's name where that is not the owner's. */
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

/** The owner's wall clock as an input of dates has it: `2026-06-10T08:00`. */
export function wallMinute(at: Date, timeZone = ownerZone()): string {
  // Swedish writes times as ISO 8601 does.
  const format = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'short', timeZone })
  return format.format(at).replace(' ', 'T')
}

/** The moment at which the owner's wall clock shows this minute; null where it is no minute. */
export function instantOf(wall: string, timeZone = ownerZone()): Date | null {
  const asUtcMs = Date.parse(`${wall}Z`)
  if (Number.isNaN(asUtcMs)) return null
  // The offset from UTC at a first guess may not be the one in force at the moment itself.
  const offsetMs = (atMs: number) => Date.parse(`${wallMinute(new Date(atMs), timeZone)}Z`) - atMs
  return new Date(asUtcMs - offsetMs(asUtcMs - offsetMs(asUtcMs)))
}
