import { dateFormat, knownZone } from './date-format.ts'

/** The calendar day of a moment where the owner is, as `YYYY-MM-DD`; of UTC where the zone is none. */
export function dayIn(timezone: string, at: Date | number): string {
  return dateFormat('en-CA', {
    timeZone: knownZone(timezone),
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).format(at)
}
