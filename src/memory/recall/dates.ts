import type { TimeMatch } from '../../../projections/time-words.ts'
import { DAY_MS } from '../../lib/time.ts'

/** A period named in a query, in the owner's local time, represented as if it were UTC. */
export type DateHint =
  | { readonly kind: 'day'; readonly year: number | null; readonly month: number; readonly day: number }
  | { readonly kind: 'month'; readonly year: number | null; readonly month: number }
  | { readonly kind: 'year'; readonly year: number }
  | { readonly kind: 'range'; readonly fromMs: number; readonly toMs: number }

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

/** Finds the dates in a query, from its words and time phrases. `localNowMs` is local time as if UTC. */
export function findDates(
  text: string,
  words: readonly string[],
  matches: readonly TimeMatch[],
  localNowMs: number,
): DatesFound {
  const hints: DateHint[] = []
  const used = new Set<number>()
  const years = words.flatMap((word, index) => (YEAR.test(word) ? [{ year: Number(word), index }] : []))
  const yearsOrAny = years.length > 0 ? years.map(({ year }) => year) : [null]

  for (const { from, to, meaning } of matches) {
    if (meaning.kind === 'relative') {
      hints.push(relativeRange(meaning.unit, meaning.offset, localNowMs))
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

function relativeRange(
  unit: 'day' | 'week' | 'month' | 'year',
  offset: number,
  localNowMs: number,
): DateHint {
  const now = new Date(localNowMs)
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

/** The best fit of a moment among the hints. `localMs` is local time as if UTC. */
export function fitDates(hints: readonly DateHint[], localMs: number): DateFit {
  const best = { inside: 0, day: 0, after: 0 }
  for (const hint of hints) {
    const fit = fitDate(hint, localMs)
    best.inside = Math.max(best.inside, fit.inside)
    best.day = Math.max(best.day, fit.day)
    best.after = Math.max(best.after, fit.after)
  }
  return best
}

function fitDate(hint: DateHint, localMs: number): DateFit {
  const date = new Date(localMs)
  const year = date.getUTCFullYear()
  switch (hint.kind) {
    case 'year':
      return { inside: year === hint.year ? 0.3 : 0, day: 0, after: 0 }
    case 'range': {
      const inside = localMs >= hint.fromMs && localMs < hint.toMs ? 1 : 0
      const isShort = hint.toMs - hint.fromMs <= 7 * DAY_MS
      return { inside, day: isShort ? inside : 0, after: afterwards(localMs - hint.toMs) }
    }
    case 'month': {
      const inside = date.getUTCMonth() === hint.month && (hint.year ?? year) === year ? 1 : 0
      return { inside, day: 0, after: afterwards(localMs - Date.UTC(hint.year ?? year, hint.month + 1, 1)) }
    }
    case 'day': {
      const inside = date.getUTCMonth() === hint.month && (hint.year ?? year) === year ? 1 : 0
      const days = (localMs - Date.UTC(hint.year ?? year, hint.month, hint.day)) / DAY_MS
      const isDay = days >= 0 && days < 1
      const isNear = inside === 1 && Math.abs(Math.floor(days)) <= NEAR_DAYS
      const after =
        days >= -1 && days <= MENTIONED_WITHIN_DAYS ? 1 - Math.abs(days) / (MENTIONED_WITHIN_DAYS + 2) : 0
      return { inside, day: isDay ? 1 : isNear ? 0.5 : 0, after }
    }
  }
}

/** Half a point within MENTIONED_WITHIN_DAYS after the end of a period. */
function afterwards(ms: number): number {
  return ms >= 0 && ms < MENTIONED_WITHIN_DAYS * DAY_MS ? 0.5 : 0
}

/** The periods named between two moments, each with the days after it in which people tell of it. */
export function stretchesOf(
  hints: readonly DateHint[],
  localFromMs: number,
  localToMs: number,
): { readonly fromMs: number; readonly toMs: number }[] {
  const firstYear = new Date(localFromMs).getUTCFullYear()
  const lastYear = new Date(localToMs).getUTCFullYear()
  const mentionedMs = MENTIONED_WITHIN_DAYS * DAY_MS
  return hints.flatMap((hint) => {
    if (hint.kind === 'range') return [{ fromMs: hint.fromMs, toMs: hint.toMs + mentionedMs }]
    const years: number[] = []
    if (hint.year !== null) years.push(hint.year)
    else for (let year = firstYear; year <= lastYear; year += 1) years.push(year)
    return years.map((year) => {
      if (hint.kind === 'year') return { fromMs: Date.UTC(year, 0, 1), toMs: Date.UTC(year + 1, 0, 1) }
      if (hint.kind === 'month')
        return {
          fromMs: Date.UTC(year, hint.month, 1),
          toMs: Date.UTC(year, hint.month + 1, 1) + mentionedMs,
        }
      const dayMs = Date.UTC(year, hint.month, hint.day)
      return { fromMs: dayMs - NEAR_DAYS * DAY_MS, toMs: dayMs + mentionedMs }
    })
  })
}
