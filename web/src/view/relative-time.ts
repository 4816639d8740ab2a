const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

/** "in 3 hours", "2 days ago", "just now": roughly how far `at` is from `now`. */
export function relativeText(at: string, now: Date): string {
  const distanceMs = Date.parse(at) - now.getTime()
  if (Number.isNaN(distanceMs)) return ''
  for (const [unit, unitMs] of units) {
    const count = Math.round(distanceMs / unitMs)
    if (count !== 0) return relative.format(count, unit)
  }
  return distanceMs < 0 ? 'just now' : 'now'
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
