import { dateFormat } from './date-format.ts'

/** How far a zone's clock is ahead of UTC, in minutes. Throws RangeError for an unknown zone. */
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

/** The formatter for `offsetMsBy`. Throws RangeError for an unknown zone. */
export function wallClockFormat(timezone: string): Intl.DateTimeFormat {
  return dateFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
}

/** How far the wall clock is ahead of UTC, in ms, to the second. */
export function offsetMsBy(format: Intl.DateTimeFormat, instantMs: number): number {
  const parts = format.formatToParts(instantMs)
  const part = (type: string) => Number(parts.find((each) => each.type === type)?.value)
  const [year, month, day] = [part('year'), part('month'), part('day')]
  const wallMs = Date.UTC(year, month - 1, day, part('hour'), part('minute'), part('second'))
  return wallMs - Math.floor(instantMs / 1000) * 1000
}
