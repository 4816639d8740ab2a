const formats = new Map<string, Intl.DateTimeFormat>()
/** Zones and styles are few; the bound is for a client that sends every zone there is. */
const MAX_FORMATS = 200

/**
 * The format of these options, made once: making one loads calendar data and takes some 50 µs, formatting by it one.
 * Throws RangeError where the time zone is none.
 */
export function dateFormat(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${locale} ${JSON.stringify(options)}`
  const known = formats.get(key)
  if (known) return known
  const made = new Intl.DateTimeFormat(locale, options)
  if (formats.size >= MAX_FORMATS) formats.clear()
  formats.set(key, made)
  return made
}

const zones = new Map<string, string>()

/** The zone itself where it is one, else UTC: a wrong setting must not silence the delegate. */
export function knownZone(timezone: string): string {
  const known = zones.get(timezone)
  if (known !== undefined) return known
  const zone = resolveZone(timezone)
  if (zones.size >= MAX_FORMATS) zones.clear()
  zones.set(timezone, zone)
  return zone
}

function resolveZone(timezone: string): string {
  try {
    return dateFormat('en-GB', { timeZone: timezone }).resolvedOptions().timeZone
  } catch (error) {
    if (error instanceof RangeError) return 'UTC'
    throw error
  }
}
