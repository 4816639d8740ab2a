import type { ParsedComponents, ParsedResult, ParsingOption } from 'chrono-node'
import { casual, GB } from 'chrono-node/en'
import { DAY_MS, dateFormat, fromWallClock, zoneOffsetMs } from '../lib/time.ts'

/** Where and when a text was said. */
export type Said = { readonly at: Date; readonly timezone: string }

/** A date, optionally with a time, resolved from the moment of the utterance. */
export type ResolvedDate = {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number | null
  readonly minute: number | null
  readonly instantMs: number
  /** Whether a day was given, not only a month or a year. */
  readonly hasDay: boolean
  /** Minimum duration: a day, or the week, month or year of a relative date. */
  readonly lastsMs: number
}

/** Where “3/12” is the twelfth of March. */
const MONTH_FIRST = new Set(new Intl.Locale('en-US').getTimeZones())

/** The English and numeric dates in a text, as local time. */
export function parseDates(text: string, { at, timezone }: Said, options?: ParsingOption): ParsedResult[] {
  const offsetMinutes = Math.round(zoneOffsetMs(at, timezone) / 60_000)
  const zone = dateFormat('en', { timeZone: timezone }).resolvedOptions().timeZone
  return (MONTH_FIRST.has(zone) ? casual : GB).parse(text, { instant: at, timezone: offsetMinutes }, options)
}

/** "Next week" and "in two weeks" resolve to a specific day, although they name none. */
function lastsMs(part: ParsedComponents): number {
  const isCounted = part.tags().has('result/relativeDate')
  if (!isCounted || part.isCertain('weekday') || part.isCertain('hour')) return DAY_MS
  if (part.isCertain('day')) return 7 * DAY_MS
  return part.isCertain('month') ? 28 * DAY_MS : 365 * DAY_MS
}

/** The dates in a text as instants, nearest and future ones. */
export function resolveDates(text: string, said: Said): ResolvedDate[] {
  const results = [...parseDates(text, said), ...parseDates(text, said, { forwardDate: true })]
  const parts = results.flatMap(({ start, end }) => (end ? [start, end] : [start]))
  return parts.map((part) => {
    const hasTime = part.isCertain('hour')
    return {
      year: part.get('year') ?? 0,
      month: part.get('month') ?? 0,
      day: part.get('day') ?? 0,
      hour: hasTime ? part.get('hour') : null,
      minute: hasTime ? (part.get('minute') ?? 0) : null,
      instantMs: instantOf(part, said),
      hasDay: part.isCertain('day') || part.isCertain('weekday') || !part.isCertain('month'),
      lastsMs: lastsMs(part),
    }
  })
}

/** The UTC offset may differ between the named day and the day of the utterance. */
function instantOf(part: ParsedComponents, { at, timezone }: Said): number {
  const instantMs = part.date().getTime()
  const year = part.get('year') ?? 0
  // Distant years ("200,000 years ago") have no meaningful wall clock.
  if (part.isCertain('timezoneOffset') || year < 1000 || year > 9999) return instantMs
  return fromWallClock(instantMs + zoneOffsetMs(at, timezone), timezone).getTime()
}
