import { dateFormat } from './date-format.ts'

/** How far a zone's clock is ahead of UTC at an instant. Throws RangeError for a zone that does not exist. */
export function zoneOffsetMinutes(instant: Date, timezone: string): number {
  const parts = dateFormat('en-US', {
    timeZone: timezone,
    timeZoneName: 'longOffset',
  }).formatToParts(instant)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT'
  const match = /GMT([+-])(\d{2}):(\d{2})/.exec(name)
  if (!match) return 0
  return (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3]))
}
