import { GERMANIC } from './lexicon-germanic.ts'
import { OTHER_SCRIPTS } from './lexicon-other-scripts.ts'
import { ROMANCE_AND_MORE } from './lexicon-romance.ts'

/**
 * Words that mark a statement as more than a plain fact. Alternatives are separated by bars; `*` stands for
 * the rest of a word.
 */
export type WordLists = {
  /** Frequent words without content. They identify the language. */
  readonly common: string
  readonly not: string
  /** Negative by meaning: "hates" may stand for "does not like". */
  readonly averse: string
  readonly condition: string
  /** Marks something as imagined. */
  readonly imagined: string
  /** Marks something as uncertain or unreal. */
  readonly uncertain: string
  /** Marks something as over. */
  readonly past: string
  /** Marks something as yet to come. */
  readonly future: string
  /** Verbs of saying and believing. */
  readonly reporting: string
  /** Words for relatives, other people and pets. */
  readonly people: string
  /** Pronouns for other people. */
  readonly others: string
  /** The speaker, as a subject. */
  readonly i: string
  /** The speaker, in any form, including possessives. */
  readonly self: string
  /** Retracts a joke. */
  readonly joking: string
  readonly agreeing: string
  /** May accompany an agreement without adding anything. */
  readonly agreed: string
  /** Marks a change from a former state. */
  readonly changing: string
  readonly forgetting: string
  readonly remembering: string
  /** Asks to work on text, which then is nobody's statement. */
  readonly dictating: string
  /** Opens a question. */
  readonly asking: string
}

export type LanguageCode = keyof typeof LISTS

const LISTS = { ...GERMANIC, ...ROMANCE_AND_MORE, ...OTHER_SCRIPTS } as const satisfies Readonly<
  Record<string, WordLists>
>

/** Written without spaces, so words have no boundaries. */
const UNSPACED: ReadonlySet<string> = new Set(['zh', 'ja', 'th'])

/** The word lists of a language as patterns over folded text. */
export type Lexicon = { readonly code: LanguageCode } & { readonly [List in keyof WordLists]: RegExp }

/** Longest rest of a word for `*`. Bounds the backtracking. */
const MAX_REST = 60

function compile(list: string, isUnspaced: boolean): RegExp {
  const alternatives = list
    .split('|')
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== '')
    // Longest first: "no longer" before "no".
    .sort((a, b) => b.length - a.length)
    .map((phrase) =>
      phrase
        .replace(/[.+?^${}()[\]\\/]/g, '\\$&')
        .replaceAll('*', `[\\p{L}\\p{M}']{0,${MAX_REST}}`)
        .replaceAll(' ', '[ ,]+'),
    )
  if (alternatives.length === 0) return /(?!)/gu
  const any = `(?:${alternatives.join('|')})`
  const pattern = isUnspaced ? any : `(?<![\\p{L}\\p{M}\\p{N}])${any}(?![\\p{L}\\p{M}\\p{N}])`
  return new RegExp(pattern, 'gu')
}

/** Compiles each list on first use. Compiling all of them at startup can take half a second. */
function lexiconFor(code: LanguageCode): Lexicon {
  const isUnspaced = UNSPACED.has(code)
  const lexicon = { code }
  for (const [name, list] of Object.entries(LISTS[code])) {
    let compiled: RegExp | undefined
    Object.defineProperty(lexicon, name, {
      enumerable: true,
      get() {
        compiled ??= compile(list, isUnspaced)
        return compiled
      },
    })
  }
  // The keys are those of the lists.
  return lexicon as Lexicon
}

const lexicons: ReadonlyMap<string, Lexicon> = new Map(
  (Object.keys(LISTS) as LanguageCode[]).map((code) => [code, lexiconFor(code)]),
)

export const languageCodes: readonly LanguageCode[] = Object.keys(LISTS) as LanguageCode[]

/** The lexicon of a language; English if it is unknown. */
export function lexiconOf(code: LanguageCode | null): Lexicon {
  const found = lexicons.get(code ?? 'en')
  if (!found) throw new Error(`no lexicon for ${code}`)
  return found
}

/** Whether a pattern of a lexicon occurs in folded text. */
export function occurs(pattern: RegExp, text: string): boolean {
  return text.search(pattern) >= 0
}

export function occurrences(pattern: RegExp, text: string): { at: number; words: string }[] {
  return [...text.matchAll(pattern)].map((match) => ({ at: match.index, words: match[0] }))
}
