import { dateFormat, knownZone } from './date-format.ts'

/** The calendar day of an instant as `YYYY-MM-DD`, in UTC if the zone is unknown. */
export function dayIn(timezone: string, at: Date | number): string {
  return dateFormat('en-CA', {
    timeZone: knownZone(timezone),
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).format(at)
}
