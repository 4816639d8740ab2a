import { tokensOf } from './recall-text.ts'
import timeNames from './time-names.json' with { type: 'json' }

/** What a word or phrase says about time. */
export type TimeMeaning =
  /** An abbreviated name ("mar", "set") is also another word, unless a number stands beside it. */
  | { readonly kind: 'month'; readonly month: number; readonly abbreviated: boolean }
  | { readonly kind: 'weekday' }
  /** Calendar units away from now: yesterday is day -1, next week is week 1. */
  | { readonly kind: 'relative'; readonly unit: Unit; readonly offset: number }
  /** Says that time is spoken of, and nothing more: "weeks", "ago". */
  | { readonly kind: 'vague' }

type TimePhrase = { readonly tokens: readonly string[]; readonly meaning: TimeMeaning }

/** A time phrase among a text's tokens; `to` is the first that is no more of it. */
export type TimeMatch = { readonly from: number; readonly to: number; readonly meaning: TimeMeaning }

/** The names of one language, separated by commas; an empty place has no name of its own. */
type TimeNames = Readonly<Record<Unit | 'units' | 'months' | 'weekdays', string>> & {
  /** Months as they are declined beside a day, where that differs. */
  readonly dated?: string
  /** Abbreviated months, where they are not numbers. */
  readonly short?: string
}

const UNITS = ['day', 'week', 'month', 'year'] as const
type Unit = (typeof UNITS)[number]
/** The first place in a list of relative names: two units ago. */
const FIRST_OFFSET = -2
/** What English says of time beyond the calendar's own words. */
const ENGLISH = 'ago last next since recently just weekend'

/** Finds words about time in text of 34 languages, by the names in the Unicode locale data (time-names.json). */
export type TimeWords = {
  /** Every phrase among the tokens of a text, the longest at each place. */
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
  // Languages share spellings ("morgen", "mars"): the earlier in the list has the word.
  const languages: readonly TimeNames[] = Object.values(timeNames)
  for (const names of languages) addLanguage(names, add)
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

function addLanguage(names: TimeNames, add: (text: string, meaning: TimeMeaning) => void): void {
  const addEach = (list: string, meaningOf: (index: number) => TimeMeaning) => {
    for (const [index, text] of list.split(',').entries()) add(text, meaningOf(index))
  }
  for (const unit of UNITS)
    addEach(names[unit], (index) => ({ kind: 'relative', unit, offset: FIRST_OFFSET + index }))
  addEach(names.units, () => ({ kind: 'vague' }))
  addEach(names.months, (month) => ({ kind: 'month', month, abbreviated: false }))
  addEach(names.dated ?? '', (month) => ({ kind: 'month', month, abbreviated: false }))
  addEach(names.short ?? '', (month) => ({ kind: 'month', month, abbreviated: true }))
  addEach(names.weekdays, () => ({ kind: 'weekday' }))
}
