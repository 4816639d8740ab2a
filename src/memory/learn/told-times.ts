import { addDays, DAY_MS, dayIn, toInstant } from '../../lib/time.ts'
import type { ResolvedDate } from '../../text/dates.ts'
import { hasNumbers, numberRuns } from '../../text/numbers.ts'
import type { Candidate } from './candidate.ts'

/** A sentence, the dates in it, and the time zone in which it was said. */
export type Told = {
  readonly sentence: string
  readonly dates: readonly ResolvedDate[]
  readonly timezone: string
}

/** A time confirmed by the quote, with the minimum duration of its unit. */
export type KnownTime = { readonly at: string; readonly lastsMs: number }
const OVER_AFTER_MS = 12 * 60 * 60_000

/** A plan expires OVER_AFTER_MS after its day, week or year. */
export function endOf({ kind }: Candidate, event: KnownTime | null): string | null {
  if (kind !== 'plan' || event === null) return null
  return new Date(Date.parse(event.at) + event.lastsMs + OVER_AFTER_MS).toISOString()
}

/** The candidate's end, if the quote confirms it. A date without a time includes the whole day. */
export function knownEnd(end: string | null, told: Told): string | null {
  const known = knownTime(end, told)
  const day = known === null ? null : (/^\s*(\d{4}-\d{2}-\d{2})\s*$/.exec(end ?? '')?.[1] ?? null)
  if (day === null) return known?.at ?? null
  return toInstant(addDays(day, 1), told.timezone)?.toISOString() ?? null
}

/** The time given by the candidate, or null if the sentence does not tell it. */
export function knownTime(time: string | null, { sentence, dates, timezone }: Told): KnownTime | null {
  const instant = time === null ? null : toInstant(time, timezone)
  if (!instant) return null
  const [year = 0, month = 0, day = 0] = dayIn(timezone, instant).split('-').map(Number)
  const told = dates.find(
    (date) =>
      date.instantMs === instant.getTime() ||
      (date.year === year && date.month === month && (date.day === day || !date.hasDay)),
  )
  if (told) return { at: instant.toISOString(), lastsMs: told.lastsMs }
  // A date in another language: its day and month stand there as numbers, or its day and year.
  const isWritten = (number: number) => hasNumbers(numberRuns(sentence), String(number))
  return isWritten(day) && (isWritten(month) || isWritten(year))
    ? { at: instant.toISOString(), lastsMs: DAY_MS }
    : null
}

export function numbersOfDate({ year, month, day, hour, minute }: ResolvedDate): string[][] {
  const clock = hour === null ? [] : [hour, hour % 12 || 12, minute ?? 0]
  return [year, year % 100, month, day, ...clock].map((number) => [String(number)])
}

/** How a date may be called: "thursday", "march". */
export function namesOf({ year, month, day }: ResolvedDate): string[] {
  const date = new Date(Date.UTC(year, month - 1, day))
  const name = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en', { ...options, timeZone: 'UTC' }).format(date).toLowerCase()
  return [name({ weekday: 'long' }), name({ month: 'long' })]
}
