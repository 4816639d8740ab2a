import { tokensOf } from './recall-text.ts'
import timeNames from './time-names.json' with { type: 'json' }

export type TimeMeaning =
  /** An abbreviation ("mar", "set") is ambiguous unless a number is next to it. */
  | { readonly kind: 'month'; readonly month: number; readonly abbreviated: boolean }
  | { readonly kind: 'weekday' }
  /** Offset from now in calendar units: yesterday is day -1, next week is week 1. */
  | { readonly kind: 'relative'; readonly unit: Unit; readonly offset: number }
  /** Only indicates time: "weeks", "ago". */
  | { readonly kind: 'vague' }

type TimePhrase = { readonly tokens: readonly string[]; readonly meaning: TimeMeaning }

/** A time phrase among a text's tokens; `to` is exclusive. */
export type TimeMatch = { readonly from: number; readonly to: number; readonly meaning: TimeMeaning }

/** The names of one language, separated by commas. An empty item has no name. */
type TimeNames = Readonly<Record<Unit | 'units' | 'months' | 'weekdays', string>> & {
  /** Months as inflected next to a day, if that differs. */
  readonly dated?: string
  /** Abbreviated months, unless they are numbers. */
  readonly short?: string
}

const UNITS = ['day', 'week', 'month', 'year'] as const
type Unit = (typeof UNITS)[number]
/** The first item of a list of relative names: two units ago. */
const FIRST_OFFSET = -2
/** English time words that the locale data lacks. */
const ENGLISH = 'ago last next since recently just weekend'

let known: ReturnType<typeof createTimeWords> | undefined

/**
 * Finds time words in 34 languages. Their names come from the Unicode locale data and stand in time-names.json. Made
 * on first use, which takes some 20 ms.
 */
export function timeWords() {
  known ??= createTimeWords()
  return known
}

function createTimeWords() {
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
  // Languages share spellings ("morgen", "mars"): the first language wins.
  const languages: readonly TimeNames[] = Object.values(timeNames)
  for (const names of languages) addLanguage(names, add)
  for (const phrases of byFirstToken.values()) phrases.sort((a, b) => b.tokens.length - a.tokens.length)

  return {
    /** All phrases among the tokens, the longest match at each position. */
    find(tokens: readonly string[]): TimeMatch[] {
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
