import { GERMANIC } from './lexicon-germanic.ts'
import { OTHER_SCRIPTS } from './lexicon-other-scripts.ts'
import { ROMANCE_AND_MORE } from './lexicon-romance.ts'

/**
 * The words by which a language says that something is not simply so. Each list holds alternatives between bars;
 * `*` stands for the rest of a word.
 */
export type WordLists = {
  /** Frequent words without content: they tell the language, and support nothing. */
  readonly common: string
  /** Negation. */
  readonly not: string
  /** Words that are negative by their meaning: "hates" may stand for "does not like". */
  readonly averse: string
  /** Opens a condition. */
  readonly condition: string
  /** Says by itself that something is only imagined. */
  readonly imagined: string
  /** Says that something is not certain, or not real. */
  readonly uncertain: string
  /** Says that something is over. */
  readonly past: string
  /** Says that something is still to come. */
  readonly future: string
  /** Somebody says or believes. */
  readonly reporting: string
  /** People, and pets, whom somebody has. */
  readonly people: string
  /** Somebody else, as a pronoun. */
  readonly others: string
  /** The one who speaks, as the subject of a statement. */
  readonly i: string
  /** The one who speaks, and what is theirs. */
  readonly self: string
  /** Takes back in jest what was said. */
  readonly joking: string
  /** Agrees. */
  readonly agreeing: string
  /** May stand beside an agreement without adding anything. */
  readonly agreed: string
  /** Says that what was so is so no more. */
  readonly changing: string
  /** Asks to forget, or not to keep. */
  readonly forgetting: string
  /** Asks to keep. */
  readonly remembering: string
  /** Asks for work on words, which are then nobody's statement. */
  readonly dictating: string
  /** Opens a question. */
  readonly asking: string
}

export type LanguageCode = keyof typeof LISTS

const LISTS = { ...GERMANIC, ...ROMANCE_AND_MORE, ...OTHER_SCRIPTS } as const satisfies Readonly<
  Record<string, WordLists>
>

/** Written without spaces: words are found wherever their characters stand. */
const UNSPACED: ReadonlySet<string> = new Set(['zh', 'ja', 'th'])

/** The lists of a language as patterns over folded text. */
export type Lexicon = { readonly code: LanguageCode } & { readonly [List in keyof WordLists]: RegExp }

/** Letters of the rest of a word; what goes on for longer is none, and must not be gone through from each of its places. */
const MAX_REST = 60

function compile(list: string, isUnspaced: boolean): RegExp {
  const alternatives = list
    .split('|')
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== '')
    // The longest first: "no longer" before "no".
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

/** Compiles a list when it is first asked for: all of them would take a slow machine half a second of every start. */
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
  // The keys are those of the lists themselves.
  return lexicon as Lexicon
}

const lexicons: ReadonlyMap<string, Lexicon> = new Map(
  (Object.keys(LISTS) as LanguageCode[]).map((code) => [code, lexiconFor(code)]),
)

export const languageCodes: readonly LanguageCode[] = Object.keys(LISTS) as LanguageCode[]

/** The lexicon of a language; English for one that is not told apart. */
export function lexiconOf(code: LanguageCode | null): Lexicon {
  const found = lexicons.get(code ?? 'en')
  if (!found) throw new Error(`no lexicon of ${code}`)
  return found
}

/** Whether a pattern of a lexicon occurs in folded text. */
export function occurs(pattern: RegExp, text: string): boolean {
  return text.search(pattern) >= 0
}

/** Each occurrence, with where it stands. */
export function occurrences(pattern: RegExp, text: string): { at: number; words: string }[] {
  return [...text.matchAll(pattern)].map((match) => ({ at: match.index, words: match[0] }))
}
