import { createRequire } from 'node:module'
import type * as chrono from 'chrono-node'
import { dateFormat } from '../lib/date-format.ts'
import { fromWallClock } from '../lib/time.ts'
import { zoneOffsetMinutes } from '../lib/zone-offset.ts'
import type { LanguageCode } from './lexicon.ts'
import { foldText } from './text.ts'

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

type Parser = {
  parse(
    text: string,
    reference: { instant: Date; timezone: number },
    option?: { forwardDate?: boolean },
  ): chrono.ParsedResult[]
}

/** Languages for which chrono-node has a parser. */
const PARSED: ReadonlySet<string> = new Set('en de fr es it pt nl sv ru uk ja zh'.split(' '))

const require = createRequire(import.meta.url)

/** The parser of a language, or the English one. Loaded on first use: all of them take 10 MB in each thread. */
function parserOf(language: LanguageCode | null): Parser {
  return require(`chrono-node/${language !== null && PARSED.has(language) ? language : 'en'}`).casual
}

const DAY_MS = 86_400_000

/** "Next week" and "in two weeks" resolve to a specific day, although they name none. */
function lastsMs(part: chrono.ParsedComponents): number {
  const isCounted = part.tags().has('result/relativeDate')
  if (!isCounted || part.isCertain('weekday') || part.isCertain('hour')) return DAY_MS
  if (part.isCertain('day')) return 7 * DAY_MS
  return part.isCertain('month') ? 28 * DAY_MS : 365 * DAY_MS
}

/**
 * Resolves the dates in a text said at `at` in the owner's time zone, preferring the future. Without a parser
 * for the language, only numeric dates.
 */
export function resolveDates(
  text: string,
  {
    at,
    timezone,
    language,
  }: { readonly at: string; readonly timezone: string; readonly language: LanguageCode | null },
): ResolvedDate[] {
  const instant = new Date(at)
  const offsetMinutes = zoneOffsetMinutes(instant, timezone)
  const parser = parserOf(language)
  const reference = { instant, timezone: offsetMinutes }
  /** The UTC offset may differ between the named day and the day of the utterance. */
  const instantOf = (part: chrono.ParsedComponents): number => {
    const instantMs = part.date().getTime()
    const year = part.get('year') ?? 0
    // Distant years ("200,000 years ago") have no meaningful wall clock.
    if (part.isCertain('timezoneOffset') || year < 1000 || year > 9999) return instantMs
    return fromWallClock(instantMs + offsetMinutes * 60_000, timezone).getTime()
  }
  const results = [...parser.parse(text, reference), ...parser.parse(text, reference, { forwardDate: true })]
  return results.flatMap(({ start, end }) =>
    [start, end].flatMap((part) => {
      if (!part) return []
      const hasTime = part.isCertain('hour')
      return [
        {
          year: part.get('year') ?? 0,
          month: part.get('month') ?? 0,
          day: part.get('day') ?? 0,
          hour: hasTime ? part.get('hour') : null,
          minute: hasTime ? (part.get('minute') ?? 0) : null,
          instantMs: instantOf(part),
          hasDay: part.isCertain('day') || part.isCertain('weekday') || !part.isCertain('month'),
          lastsMs: lastsMs(part),
        },
      ]
    }),
  )
}

/** The months, 1..12, that a text names. */
export function namedMonths(text: string, language: LanguageCode | null): number[] {
  const folded = foldText(text)
  const found: number[] = []
  for (const options of [{ month: 'long' }, { month: 'long', day: 'numeric' }] as const) {
    const format = dateFormat(`${language ?? 'en'}-u-ca-gregory`, {
      ...options,
      timeZone: 'UTC',
    })
    for (let month = 0; month < 12; month += 1) {
      const name = format.formatToParts(Date.UTC(2024, month, 3)).find(({ type }) => type === 'month')?.value
      if (name && !/^\d/.test(name) && folded.includes(foldText(name))) found.push(month + 1)
    }
  }
  return found
}

/** Names of a date's month and weekday in a language, folded. */
export function calendarNames({ year, month, day }: ResolvedDate, language: LanguageCode | null): string[] {
  const date = Date.UTC(year, month - 1, day)
  return [language ?? 'en', 'en'].flatMap((locale) =>
    (
      [
        { month: 'long' },
        { month: 'short' },
        { weekday: 'long' },
        { weekday: 'short' },
        { month: 'long', day: 'numeric' },
      ] as const
    ).flatMap((options) =>
      dateFormat(`${locale}-u-ca-gregory`, { ...options, timeZone: 'UTC' })
        .formatToParts(date)
        .flatMap(({ type, value }) =>
          type === 'month' || type === 'weekday' ? [foldText(value).replace('.', '')] : [],
        ),
    ),
  )
}
