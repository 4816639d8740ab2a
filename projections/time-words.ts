import { tokensOf } from './recall-text.ts'

export type TimeMeaning =
  /** An abbreviation ("mar", "set") is ambiguous unless a number is next to it. */
  | { readonly kind: 'month'; readonly month: number; readonly abbreviated: boolean }
  | { readonly kind: 'weekday' }
  /** Offset from now in calendar units: yesterday is day -1, next week is week 1. */
  | { readonly kind: 'relative'; readonly unit: 'day' | 'week' | 'month' | 'year'; readonly offset: number }
  /** Only indicates time: "weeks", "ago". */
  | { readonly kind: 'vague' }

type TimePhrase = { readonly tokens: readonly string[]; readonly meaning: TimeMeaning }

/** A time phrase among a text's tokens; `to` is exclusive. */
export type TimeMatch = { readonly from: number; readonly to: number; readonly meaning: TimeMeaning }

const LOCALES =
  'en de fr es it pt nl pl cs sk sv da nb fi hu ro tr ru uk bg sr el ar he fa hi bn ta zh ja ko th vi id'
const UNITS = ['day', 'week', 'month', 'year'] as const
const OFFSETS = [-2, -1, 0, 1, 2]
/** English time words that the locale data lacks. */
const ENGLISH = 'ago last next since recently just weekend'

/** Finds time words in some thirty languages, using the runtime's locale data. */
export type TimeWords = {
  /** All phrases among the tokens, the longest match at each position. */
  find(tokens: readonly string[]): TimeMatch[]
}

export function createTimeWords(): TimeWords {
  const byFirstToken = new Map<string, TimePhrase[]>()

  function add(text: string, meaning: TimeMeaning): void {
    const tokens = tokensOf(text)
    const [first] = tokens
    if (first === undefined) return
    const phrases = byFirstToken.get(first) ?? []
    const isKnown = phrases.some((phrase) => phrase.tokens.join(' ') === tokens.join(' '))
    if (!isKnown) byFirstToken.set(first, [...phrases, { tokens, meaning }])
  }

  for (const word of ENGLISH.split(' ')) add(word, { kind: 'vague' })
  // Languages share spellings ("morgen", "mars"): the first locale wins.
  for (const locale of LOCALES.split(' ')) addLocale(`${locale}-u-ca-gregory-nu-latn`, add)
  for (const phrases of byFirstToken.values()) phrases.sort((a, b) => b.tokens.length - a.tokens.length)

  return {
    find(tokens) {
      const found: TimeMatch[] = []
      for (let from = 0; from < tokens.length; from += 1) {
        const phrase = byFirstToken
          .get(tokens[from] ?? '')
          ?.find((each) => each.tokens.every((token, index) => tokens[from + index] === token))
        if (!phrase) continue
        const to = from + phrase.tokens.length
        found.push({ from, to, meaning: phrase.meaning })
        from = to - 1
      }
      return found
    },
  }
}

function addLocale(locale: string, add: (text: string, meaning: TimeMeaning) => void): void {
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  for (const unit of UNITS) {
    for (const offset of OFFSETS) {
      const text = relative.format(offset, unit)
      // Skip phrases with a number ("2 days ago").
      if (!/\d/.test(text)) add(text, { kind: 'relative', unit, offset })
    }
    const count = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' })
    for (const number of [1, 2, 5]) {
      for (const part of count.formatToParts(number)) {
        if (part.type === 'unit') add(part.value, { kind: 'vague' })
      }
    }
  }
  // Some languages inflect a month next to a day.
  for (const options of [{ month: 'long' }, { month: 'long', day: 'numeric' }, { month: 'short' }] as const) {
    const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
    const abbreviated = options.month === 'short'
    for (let month = 0; month < 12; month += 1) {
      const name = format.formatToParts(Date.UTC(2024, month, 3)).find(({ type }) => type === 'month')
      if (name && !/^\d+$/.test(name.value)) add(name.value, { kind: 'month', month, abbreviated })
    }
  }
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' })
  for (let day = 1; day <= 7; day += 1) add(weekday.format(Date.UTC(2024, 0, day)), { kind: 'weekday' })
}
