import { createRequire } from 'node:module'
import type { ParsedComponents, ParsedResult, ParsingOption } from 'chrono-node'
import { DAY_MS, dateFormat, fromWallClock, zoneOffsetMs } from '../lib/time.ts'
import type { LanguageCode } from './lexicon.ts'
import { foldText } from './text.ts'

/** Where and when a text was said, and in which language. */
export type Said = {
  readonly at: Date
  readonly timezone: string
  readonly language: LanguageCode | null
}

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

/** Languages for which chrono-node has a parser. */
const PARSED: ReadonlySet<string> = new Set('en de fr es it pt nl sv ru uk ja zh'.split(' '))

const require = createRequire(import.meta.url)

/**
 * The dates in a text, as local time. Without a parser for the language, the English one finds numeric dates.
 * A parser is loaded on first use: all of them take 10 MB in each thread.
 */
export function parseDates(
  text: string,
  { at, timezone, language }: Said,
  options?: ParsingOption,
): ParsedResult[] {
  const parsed = language !== null && PARSED.has(language) ? language : 'en'
  const offsetMinutes = Math.round(zoneOffsetMs(at, timezone) / 60_000)
  return require(`chrono-node/${parsed}`).casual.parse(
    text,
    { instant: at, timezone: offsetMinutes },
    options,
  )
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

const MONTH_STYLES = [{ month: 'long' }, { month: 'long', day: 'numeric' }] as const
const STYLES = [...MONTH_STYLES, { month: 'short' }, { weekday: 'long' }, { weekday: 'short' }] as const

/** Names of a date's month and weekday in a language, folded. */
function namesOf(
  dateMs: number,
  language: LanguageCode | null,
  styles: readonly Intl.DateTimeFormatOptions[],
): string[] {
  return styles.flatMap((style) =>
    dateFormat(`${language ?? 'en'}-u-ca-gregory`, { ...style, timeZone: 'UTC' })
      .formatToParts(dateMs)
      .filter(({ type }) => type === 'month' || type === 'weekday')
      .map(({ value }) => foldText(value).replace('.', '')),
  )
}

/** The months, 1..12, that a text names. */
export function namedMonths(text: string, language: LanguageCode | null): number[] {
  const folded = foldText(text)
  const isNamed = (name: string) => !/^\d/.test(name) && folded.includes(name)
  return Array.from({ length: 12 }, (_, index) => index + 1).filter((month) =>
    namesOf(Date.UTC(2024, month - 1, 3), language, MONTH_STYLES).some(isNamed),
  )
}

/** Names of a date's month and weekday, in a language and in English. */
export function calendarNames({ year, month, day }: ResolvedDate, language: LanguageCode | null): string[] {
  const dateMs = Date.UTC(year, month - 1, day)
  return [language, 'en' as const].flatMap((code) => namesOf(dateMs, code, STYLES))
}
