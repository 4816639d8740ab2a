import type { TimeMatch } from '../../../projections/time-words.ts'
import { DAY_MS } from '../../lib/time.ts'

/** On the wall clock. The end is exclusive. */
type Bounds = { readonly fromMs: number; readonly toMs: number }

/** A date named in a query. */
export type DateHint =
  | { readonly kind: 'day'; readonly year: number | null; readonly month: number; readonly day: number }
  | { readonly kind: 'month'; readonly year: number | null; readonly month: number }
  | { readonly kind: 'year'; readonly year: number }
  | ({ readonly kind: 'range' } & Bounds)

/** How well a moment fits the dates of a query. Each value is 0..1. */
export type DateFit = {
  /** In the month, period or (at a lower value) year. */
  readonly inside: number
  /** On the day or (at a lower value) near it. */
  readonly day: number
  /** Shortly after, when people tell of what happened. */
  readonly after: number
}

export type DatesFound = {
  readonly hints: readonly DateHint[]
  /** Positions of the words in the dates, which are not searched for as words. */
  readonly used: ReadonlySet<number>
}

const YEAR = /^(?:19|20)\d\d$/
const DAY_OF_MONTH = /^(\d{1,2})(?:st|nd|rd|th)?$/
const MAY_THE_MONTH =
  /\b(?:in|on|of|last|next|this|since|early|late|mid|by|until|before|after|during|from|to|and|\d{1,2}(?:st|nd|rd|th)?,?) May\b|\bMay,? (?:\d|of)/
const NEAR_DAYS = 3
const MENTIONED_WITHIN_DAYS = 10

/** Finds the dates in a query, from its words and time phrases. */
export function findDates(
  text: string,
  words: readonly string[],
  matches: readonly TimeMatch[],
  wallNowMs: number,
): DatesFound {
  const hints: DateHint[] = []
  const used = new Set<number>()
  const years = words.flatMap((word, index) => (YEAR.test(word) ? [{ year: Number(word), index }] : []))
  const yearsOrAny = years.length > 0 ? years.map(({ year }) => year) : [null]

  for (const { from, to, meaning } of matches) {
    if (meaning.kind === 'relative') {
      hints.push(relativeRange(meaning.unit, meaning.offset, wallNowMs))
    } else if (meaning.kind === 'month') {
      const days = [from - 2, from - 1, to, to + 1].filter((index) => isDayOfMonth(words[index]))
      if (meaning.abbreviated && days.length === 0) continue
      if (words[from] === 'may' && to === from + 1 && !MAY_THE_MONTH.test(text)) continue
      for (const year of yearsOrAny) {
        if (days.length === 0) hints.push({ kind: 'month', year, month: meaning.month })
        for (const index of days) {
          const day = Number.parseInt(words[index] ?? '', 10)
          hints.push({ kind: 'day', year, month: meaning.month, day })
        }
      }
      for (const index of days) used.add(index)
    } else continue
    for (let index = from; index < to; index += 1) used.add(index)
  }
  for (const [date, year, month, day] of text.matchAll(/\b(\d{4})-(\d{2})-(\d{2})\b/g)) {
    hints.push({ kind: 'day', year: Number(year), month: Number(month) - 1, day: Number(day) })
    const parts = new Set(date.split('-'))
    words.forEach((word, index) => {
      if (parts.has(word)) used.add(index)
    })
  }
  if (hints.length === 0) for (const { year } of years) hints.push({ kind: 'year', year })
  for (const { index } of years) used.add(index)
  return { hints, used }
}

function isDayOfMonth(word: string | undefined): boolean {
  const day = Number(DAY_OF_MONTH.exec(word ?? '')?.[1] ?? 0)
  return day >= 1 && day <= 31
}

function relativeRange(unit: 'day' | 'week' | 'month' | 'year', offset: number, wallNowMs: number): DateHint {
  const now = new Date(wallNowMs)
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const monday = day - ((now.getUTCDay() + 6) % 7)
  const start = (step: number): number => {
    if (unit === 'day') return Date.UTC(year, month, day + offset + step)
    if (unit === 'week') return Date.UTC(year, month, monday + 7 * (offset + step))
    if (unit === 'month') return Date.UTC(year, month + offset + step, 1)
    return Date.UTC(year + offset + step, 0, 1)
  }
  return { kind: 'range', fromMs: start(0), toMs: start(1) }
}

/** What a hint names. Without a year of its own, it names something in each year. */
function boundsOf(hint: DateHint, eachYear: number): Bounds {
  if (hint.kind === 'range') return hint
  const year = hint.year ?? eachYear
  if (hint.kind === 'year') return { fromMs: Date.UTC(year, 0), toMs: Date.UTC(year + 1, 0) }
  if (hint.kind === 'month')
    return { fromMs: Date.UTC(year, hint.month), toMs: Date.UTC(year, hint.month + 1) }
  const fromMs = Date.UTC(year, hint.month, hint.day)
  return { fromMs, toMs: fromMs + DAY_MS }
}

const yearOf = (wallMs: number) => new Date(wallMs).getUTCFullYear()

/** The best fit of a moment among the hints. */
export function fitDates(hints: readonly DateHint[], wallMs: number): DateFit {
  const fits = hints.map((hint) => fitDate(hint, wallMs))
  return {
    inside: Math.max(0, ...fits.map(({ inside }) => inside)),
    day: Math.max(0, ...fits.map(({ day }) => day)),
    after: Math.max(0, ...fits.map(({ after }) => after)),
  }
}

function fitDate(hint: DateHint, wallMs: number): DateFit {
  const { fromMs, toMs } = boundsOf(hint, yearOf(wallMs))
  const inside = Number(wallMs >= fromMs && wallMs < toMs)
  if (hint.kind === 'year') return { inside: inside * 0.3, day: 0, after: 0 }
  if (hint.kind === 'day') {
    const month = fitDate({ ...hint, kind: 'month' }, wallMs)
    const days = (wallMs - fromMs) / DAY_MS
    const isNear = month.inside === 1 && Math.abs(Math.floor(days)) <= NEAR_DAYS
    const isMentioned = days >= -1 && days <= MENTIONED_WITHIN_DAYS
    const after = isMentioned ? 1 - Math.abs(days) / (MENTIONED_WITHIN_DAYS + 2) : 0
    return { inside: month.inside, day: inside || (isNear ? 0.5 : 0), after }
  }
  const isShort = toMs - fromMs <= 7 * DAY_MS
  const isAfter = wallMs >= toMs && wallMs < toMs + MENTIONED_WITHIN_DAYS * DAY_MS
  return { inside, day: isShort ? inside : 0, after: isAfter ? 0.5 : 0 }
}

/** The periods named between two moments, each with the days after it in which people tell of it. */
export function stretchesOf(hints: readonly DateHint[], wallFromMs: number, wallToMs: number): Bounds[] {
  const first = yearOf(wallFromMs)
  const years = Array.from({ length: yearOf(wallToMs) - first + 1 }, (_, index) => first + index)
  const mentionedMs = MENTIONED_WITHIN_DAYS * DAY_MS
  return hints.flatMap((hint) => {
    const isEachYear = hint.kind !== 'range' && hint.year === null
    return (isEachYear ? years : [first]).map((year) => {
      const { fromMs, toMs } = boundsOf(hint, year)
      if (hint.kind === 'year') return { fromMs, toMs }
      if (hint.kind === 'day') return { fromMs: fromMs - NEAR_DAYS * DAY_MS, toMs: fromMs + mentionedMs }
      return { fromMs, toMs: toMs + mentionedMs }
    })
  })
}
