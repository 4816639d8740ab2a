import { ROOT_CHARACTERS, type Speaker } from '../../../projections/recall-entries.ts'
import { charactersOf, isUnspaced, runsOf, stemOf, wordsOf } from '../../../projections/recall-text.ts'
import { STOP_WORDS } from '../../../projections/stop-words.ts'
import { timeWords } from '../../../projections/time-words.ts'
import { wallClockMs } from '../../lib/time.ts'
import { type DateHint, findDates } from './dates.ts'

type QuestionKind = 'time' | 'count' | 'name'

/** English question phrases of each kind. */
const ASKING: Readonly<Record<QuestionKind, RegExp>> = {
  time: /\b(?:when|(?:what|which) (?:date|day|month|year|time)|how long ago|since when)\b/,
  count: /\b(?:how (?:many|much|often|long|old|far)|number of)\b/,
  name: /\b(?:who|whom|whose|where|which|names?|named|called|title)\b/,
}
const SELF = /\b(?:i|me|my|mine|myself|we|our|us)\b/
const OTHER = /\byours?\b|\byou\b/

export type Cue = {
  readonly text: string
  /** Earlier text. Counts less, and only if the cue itself has few words. */
  readonly context?: string
  /** The speaker, to whom "I" refers. Null for a signal, and for questions about both. */
  readonly asker: 'owner' | null
  readonly nowMs: number
  /** IANA time zone of the owner, for words like "yesterday". */
  readonly timezone: string
  /** Whether a model reads what is said, so that facts are memories as well. */
  readonly isRead: boolean
  /** Names of owner and delegate. A name in the cue shows whose words to look for. */
  readonly names?: Readonly<Record<Speaker, readonly string[]>>
}

/** A word of the query, as FTS5 expressions. */
export type QueryTerm = {
  /** The word: one token, or consecutive characters of an unspaced word. */
  readonly exact: string
  /** Words with the same beginning ("allergic" for "allergy"); null if that adds nothing. */
  readonly root: string | null
  /** 1 for a word of the cue, less for one of the context. */
  readonly weight: number
}

export type Query = {
  readonly terms: readonly QueryTerm[]
  /** Whose words the answer probably is; null if unclear. */
  readonly subject: Speaker | null
  readonly dates: readonly DateHint[]
  readonly kinds: ReadonlySet<QuestionKind>
  readonly timezone: string
  readonly isRead: boolean
}

/** Terms are bits of a 32-bit mask. */
export const MAX_TERMS = 24
/** Words of a longer cue are not extended to their root. */
const MAX_WIDENED_TERMS = 12
const CONTEXT_WEIGHT = 0.4

/** The tokens of the significant words of a text. `isUsed` excludes positions. */
function significantWords(text: string, names: ReadonlySet<string>, isUsed: (position: number) => boolean) {
  let position = -1
  const isSignificant = (word: string) => {
    position += 1
    return !isUsed(position) && !names.has(word) && !STOP_WORDS.has(word)
  }
  const words = runsOf(text).flatMap((run) => {
    const parts = isUnspaced(run) ? charactersOf(run) : [run]
    // Characters that are still adjacent in their run stay one word.
    const left = parts.map((part) => (isSignificant(part) ? part : ' ')).join('')
    return left.split(' ').filter((word) => word !== '')
  })
  return unique(words.flatMap(toTokens))
}

function termOf(tokens: readonly string[], weight: number, isWidened: boolean): QueryTerm {
  const [stem = ''] = tokens
  const hasRoot = isWidened && tokens.length === 1 && stem.length >= ROOT_CHARACTERS && !/^\d/.test(stem)
  return {
    exact: phrase(tokens),
    root: hasRoot ? `${phrase([[...stem].slice(0, ROOT_CHARACTERS).join('')])} *` : null,
    weight,
  }
}

/** Parses a cue. */
export function readQuery(cue: Cue): Query {
  const words = wordsOf(cue.text)
  const wallNowMs = wallClockMs(cue.nowMs, cue.timezone)
  const dates = findDates(cue.text, words, timeWords().find(words.map(stemOf)), wallNowMs)
  const owner = cue.names?.owner.flatMap(wordsOf) ?? []
  const delegate = cue.names?.delegate.flatMap(wordsOf) ?? []
  const names = new Set([...owner, ...delegate])

  const significant = significantWords(cue.text, names, (position) => dates.used.has(position))
  // Long words tend to be rare.
  const lengthOf = (tokens: readonly string[]) => tokens.join('').length
  const own = significant.toSorted((a, b) => lengthOf(b) - lengthOf(a)).slice(0, MAX_TERMS)
  const known = new Set(own.map((tokens) => tokens.join(' ')))
  // "ok thanks" has no words of its own and so does not ask for its context.
  const around = (own.length === 0 ? [] : significantWords(cue.context ?? '', names, () => false))
    .filter((tokens) => !known.has(tokens.join(' ')))
    .slice(0, Math.max(0, MAX_WIDENED_TERMS - own.length))
  const isWidened = own.length <= MAX_WIDENED_TERMS

  const asked = words.join(' ')
  const isOwner = owner.some((name) => words.includes(name)) || (cue.asker === 'owner' && SELF.test(asked))
  const isDelegate =
    delegate.some((name) => words.includes(name)) || (cue.asker === 'owner' && OTHER.test(asked))
  return {
    terms: [
      ...own.map((tokens) => termOf(tokens, 1, isWidened)),
      ...around.map((tokens) => termOf(tokens, CONTEXT_WEIGHT, isWidened)),
    ],
    subject: isOwner === isDelegate ? null : isOwner ? 'owner' : 'delegate',
    dates: dates.hints,
    kinds: new Set((['time', 'count', 'name'] as const).filter((kind) => ASKING[kind].test(asked))),
    timezone: cue.timezone,
    isRead: cue.isRead,
  }
}

/** A word's stem. Unspaced scripts, whose words have no bounds, yield pairs of characters. */
function toTokens(run: string): readonly (readonly string[])[] {
  return isUnspaced(run) ? pairsOf(charactersOf(run)) : [[stemOf(run)]]
}

function pairsOf(characters: readonly string[]): string[][] {
  if (characters.length < 2) return [[...characters]]
  return characters.slice(1).map((second, index) => [characters[index] ?? '', second])
}

/** An FTS5 phrase, with the tokens escaped. */
function phrase(tokens: readonly string[]): string {
  return `"${tokens.join(' ').replaceAll('"', '""')}"`
}

function unique(tokens: readonly (readonly string[])[]): (readonly string[])[] {
  return [...new Map(tokens.map((each) => [each.join(' '), each])).values()]
}
