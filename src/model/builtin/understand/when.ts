import { casual, type ParsedResult } from 'chrono-node/en'
import { fromWallMs, toLocalIso, toWallMs, type WallClock, wallClock } from '../local-time.ts'
import type { Present } from '../plan.ts'
import { digitiseClock } from './clock.ts'
import { takeDuration } from './duration.ts'
import { takeRecurrence } from './recurrence.ts'

/** When something is to happen; `rest` is the text without the words that said so. */
export type When =
  | { readonly kind: 'in'; readonly seconds: number; readonly rest: string }
  /** Local time in the owner's zone, ISO 8601 without an offset. */
  | { readonly kind: 'at'; readonly local: string; readonly rest: string }
  | { readonly kind: 'every'; readonly cron: string; readonly words: string; readonly rest: string }
  | { readonly kind: 'impossible'; readonly why: string }

/** Beyond this nobody says when; and the reader of dates gets no long texts. */
const MAX_CHARS = 300
const HOUR_MS = 3_600_000

/** The first moment, span or recurrence that a text speaks of; null where it speaks of none. */
export function takeWhen(text: string, present: Present, options: { readonly early: boolean }): When | null {
  const plain = digitiseClock(asMeant(text.slice(0, MAX_CHARS))).replace(
    /(?<!the )\bday after tomorrow\b/gi,
    'the day after tomorrow',
  )
  const recurrence = takeRecurrence(plain)
  if (recurrence?.kind === 'cron') return { ...recurrence, kind: 'every' }
  if (recurrence) return recurrence
  const duration = takeDuration(plain)
  if (duration) return { kind: 'in', ...duration }
  return takeMoment(plain, present, options.early)
}

/** What is dictated has sounds between the words, and "tomorrow" is written in many ways. */
function asMeant(text: string): string {
  return text
    .replace(/(?<![\p{L}\p{N}'’-])(?:uh|um|uhm|erm|hmm)(?:,|(?![\p{L}\p{N}'’-]))\s?/giu, '')
    .replace(/\bto{0,2}m{1,2}o{0,2}r{1,2}o{0,2}w\b/gi, 'tomorrow')
}

function takeMoment(text: string, present: Present, early: boolean): When | null {
  const here = wallClock(present.now, present.timezone)
  const dated = withMonth(text, here)
  const offsetMinutes = Math.round((toWallMs(here) - present.now.getTime()) / 60_000)
  const reference = { instant: present.now, timezone: offsetMinutes }
  // What is Monday's is a thing, not a moment; "now" sets nothing off.
  const results = casual
    .parse(dated, reference, { forwardDate: true })
    .filter(
      ({ index, text: phrase }) => !dated.startsWith("'s", index + phrase.length) && !/^now$/i.test(phrase),
    )
  const result = choose(results, dated)
  if (!result) return null
  const before = dated.slice(0, result.index).replace(/\b(?:by|before|around|about|on|at|for)\s*$/i, '')
  const rest = `${before} ${dated.slice(result.index + result.text.length)}`.replace(/\s+/g, ' ').trim()
  return { kind: 'at', local: toLocalIso(resolve(result, here, early)), rest }
}

/** "on the 15th" is of this month, or of the next where it has passed. */
function withMonth(text: string, here: WallClock): string {
  return text.replace(
    /\b(on |by )?the (\d{1,2})(?:st|nd|rd|th)\b(?! of\b| (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))/i,
    (all, _on, day: string) => {
      const number = Number(day)
      if (number < 1 || number > 31) return all
      const monthsAhead = number < here.day ? 1 : 0
      const date = fromWallMs(Date.UTC(here.year, here.month - 1 + monthsAhead, number))
      return date.day === number ? `on ${toLocalIso(date).slice(0, 10)}` : all
    },
  )
}

/** What stands at the beginning or the end says when; what stands within a title is part of it. */
function choose(results: readonly ParsedResult[], text: string): ParsedResult | null {
  const isEdge = ({ index, text: phrase }: ParsedResult) =>
    /^(?:by|on|at|for|around|before)?\s*$/i.test(text.slice(0, index)) ||
    /^[\s.!,?]*$/.test(text.slice(index + phrase.length))
  return results.find(isEdge) ?? results[0] ?? null
}

const PARTS_OF_DAY: readonly (readonly [RegExp, number])[] = [
  [/morning/i, 9],
  [/afternoon/i, 15],
  [/evening/i, 19],
  [/tonight|night/i, 21],
]

function resolve(result: ParsedResult, here: WallClock, early: boolean): WallClock {
  const { start, text } = result
  const date = {
    year: start.get('year') ?? here.year,
    month: start.get('month') ?? here.month,
    day: start.get('day') ?? here.day,
  }
  if (!start.isCertain('hour')) {
    // "In two weeks" means this time of day; a bare date means its morning.
    const isRelative =
      /\b(?:in|from now|later|after)\b/i.test(text) && !/morning|afternoon|evening|night/i.test(text)
    const part = PARTS_OF_DAY.find(([pattern]) => pattern.test(text))?.[1]
    return isRelative ? { ...here, ...date } : { ...date, hour: part ?? 9, minute: 0 }
  }
  const wall = { ...date, hour: start.get('hour') ?? 9, minute: start.get('minute') ?? 0 }
  const isAmbiguous =
    !start.isCertain('meridiem') &&
    wall.hour >= 1 &&
    wall.hour <= 11 &&
    !/\b0\d|morning|afternoon|evening|night|noon/i.test(text)
  if (!isAmbiguous) return wall
  const hasDate = start.isCertain('day') || start.isCertain('weekday')
  return disambiguate(wall, here, { hasDate, early })
}

/** "At 7" without a date is the next seven o'clock; "Friday at 5" is in the afternoon, "Friday at 9" in the morning. */
function disambiguate(
  wall: WallClock,
  here: WallClock,
  hint: { readonly hasDate: boolean; readonly early: boolean },
): WallClock {
  const nowMs = toWallMs(here)
  const early = toWallMs(wall)
  const late = early + 12 * HOUR_MS
  const isEarlyHour = wall.hour <= 6
  if (hint.hasDate) {
    const isPast = early <= nowMs && late > nowMs
    return fromWallMs((isEarlyHour && !hint.early) || isPast ? late : early)
  }
  if (hint.early) return wall
  const today = toWallMs({ ...here, hour: wall.hour, minute: wall.minute })
  const candidates = [today, today + 12 * HOUR_MS, today + 24 * HOUR_MS, today + 36 * HOUR_MS]
  const next = candidates.find((each, index) => each > nowMs && !(isEarlyHour && index % 2 === 0))
  return fromWallMs(next ?? early)
}
