import { stemOf } from '../../../projections/recall-text.ts'

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’][\p{L}]+)?/gu

const STOP_WORDS = new Set(
  `a about after again all also am an and any anything are as at be because been before but by can could did do does
  doing don't for from had has have having he her hers him his how i i'd i'll i'm i've if in into is it it's its just
  know like-to me mention mentioned mine my myself no not of off on once one or our ours out please remember remembered
  recall said same say shall she should so some something such tell than that that's the their theirs them then there
  these they this those to told too under up us very was we were what what's when where which who who's whom whose why
  will with would you your yours`.split(/\s+/),
)

/** Words for an aspect rather than a thing. A matching statement may lack them. */
const ASPECTS = new Set(
  `name call birthday born age old live address number phone date time day year favourite favorite prefer kind type
  colour color job work thing again currently`
    .split(/\s+/)
    .map(stemOf),
)

/** Whether a word names an aspect ("colour", "name") rather than a thing. */
export function isAspect(word: string): boolean {
  return ASPECTS.has(stemOf(word))
}

/** Lower-case words, without a possessive ending. */
export function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(WORD) ?? []).map((word) => word.replace(/['’]s$/u, ''))
}

/** Search words without duplicates. A matching statement must contain `keys` but may paraphrase `aspects`. */
export function queryWords(text: string) {
  const plain = text.replace(/\bfor (?:a|his|her|my|their) living\b/gi, 'job')
  const words = [...new Set(wordsOf(plain))].filter((word) => !STOP_WORDS.has(word))
  const keys = words.filter((word) => !isAspect(word))
  const aspects = words.filter(isAspect)
  return keys.length > 0 ? { keys, aspects } : { keys: aspects, aspects: [] }
}

/** Groups of synonyms: "moved to" answers "where do I live?". The first word is the slot of a memory. */
const SYNONYMS = [
  'residence live moved reside relocated settled based',
  'employer work job employed profession',
  'name call',
  'birthday born birth birthdate',
  'phone telephone mobile cell cellphone',
  'kids children child',
  'car drive',
  'mother mum mom mama',
  'father dad papa',
  'doctor gp physician',
  'colour color',
  'favourite favorite',
  'licence license',
  'allergy allergic',
]
const slotOf = new Map(
  SYNONYMS.flatMap((line) => {
    const [slot = '', ...others] = line.split(' ')
    return [slot, ...others].map((word) => [stemOf(word), slot] as const)
  }),
)

/** The form for comparison: the first synonym, else the stem. */
export function senseOf(word: string): string {
  const stem = stemOf(word)
  return slotOf.get(stem) ?? stem
}
